import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import t, { type Test } from 'tap';
import { createAccessTokens } from '../../src/core/applications/access-tokens.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createTenant } from './tenant.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const issuer = 'https://lapel.example';

async function createTokens(t: Test, bounds: { cached?: number } = {}) {
  const { database, clock, ids } = await createTenant(t);
  const open = async (from = issuer) => {
    const log = createLog({ level: 'silent' });
    const trust = { isHeld: () => false, whenBelieved: () => undefined };
    const tokens = createAccessTokens({ database, clock, ids, log, trust, issuer: () => from, ...bounds });
    t.teardown(() => tokens[Symbol.asyncDispose]());
    await tokens.start();
    return tokens;
  };
  return { database, clock, open, tokens: await open() };
}

/** The service's own private key, as a thief of the database would get it. */
async function signingKey(database: Awaited<ReturnType<typeof createTokens>>['database']) {
  const row = await database.read.get<{ jwk: string; kid: string }>(
    'SELECT private_jwk AS jwk, key_id AS kid FROM signing_keys',
  );
  return { kid: row?.kid ?? '', jwk: JSON.parse(row?.jwk ?? '{}') };
}

const invalid = (reason: RegExp) => ({ code: 'TOKEN_INVALID', cause: { message: reason } });

void t.test('a token carries the claims of the contract, by the injected clock', async (t) => {
  const { tokens, clock } = await createTokens(t);
  const issued = await tokens.issue({ applicationId: 'app-1', secretMark: 'mark' }, [
    'svc:device:read',
    'svc:device:write',
  ]);
  const iat = Math.floor(clock.now() / 1_000_000);
  t.strictSame(
    { ...issued, accessToken: typeof issued.accessToken },
    { accessToken: 'string', expiresIn: 3600, scope: 'svc:device:read svc:device:write' },
  );
  const claims = decodeJwt(issued.accessToken);
  t.match(claims.jti, /^[0-9a-f-]{36}$/);
  t.strictSame(
    { ...claims, jti: '' },
    {
      iss: issuer,
      sub: 'app-1',
      scope: 'svc:device:read svc:device:write',
      secret_mark: 'mark',
      iat,
      exp: iat + 3600,
      jti: '',
    },
  );
  const { kid } = (await tokens.jwks()).keys[0] ?? {};
  t.strictSame(decodeProtectedHeader(issued.accessToken), { alg: 'ES256', typ: 'JWT', kid });
  const verified = await tokens.verify(issued.accessToken);
  t.equal(verified.applicationId, 'app-1');
  t.strictSame([...verified.scopes], ['svc:device:read', 'svc:device:write']);
});

void t.test('a token lives one hour to the second, whether it was verified before or not', async (t) => {
  const { tokens, clock, open } = await createTokens(t);
  const { accessToken } = await tokens.issue({ applicationId: 'app-1', secretMark: 'mark' }, ['svc:device:read']);
  clock.advance(HOUR - 1000);
  await tokens.verify(accessToken);
  clock.advance(1000);
  await t.rejects(tokens.verify(accessToken), invalid(/exp/));
  await t.rejects((await open()).verify(accessToken), invalid(/exp/));
});

void t.test('forged tokens are invalid, each with its cause', async (t) => {
  const { tokens, database, clock } = await createTokens(t);
  const { kid, jwk } = await signingKey(database);
  const now = Math.floor(clock.now() / 1_000_000);
  const claims = { iss: issuer, sub: 'app-1', scope: 'svc:device:write', jti: 'x', iat: now, exp: now + 600 };
  const sign = (payload: object, header: object = {}, key: Parameters<SignJWT['sign']>[0] = jwk) =>
    new SignJWT({ ...payload }).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid, ...header }).sign(key);

  await tokens.verify(await sign(claims)); // the claims are valid, so each fault below is the only one
  const { privateKey: stranger } = await generateKeyPair('ES256');
  await t.rejects(tokens.verify(await sign(claims, {}, stranger)), invalid(/signature verification failed/));
  await t.rejects(tokens.verify(await sign(claims, { kid: 'other' }, stranger)), invalid(/unknown key/));
  await t.rejects(tokens.verify(await sign(claims, { kid: undefined })), invalid(/unknown key/));
  await t.rejects(tokens.verify(await sign(claims, { typ: 'secevent+jwt' })), invalid(/typ/));
  await t.rejects(tokens.verify(await sign(claims, { typ: undefined })), invalid(/typ/));
  await t.rejects(tokens.verify(await sign({ ...claims, iss: 'https://evil.example' })), invalid(/iss/));
  await t.rejects(tokens.verify(await sign({ ...claims, exp: undefined })), invalid(/exp/));
  await t.rejects(tokens.verify(await sign({ ...claims, exp: now + 3901 })), invalid(/lives longer/));
  await t.rejects(tokens.verify(await sign({ ...claims, nbf: now + 60 })), invalid(/nbf/));
  await t.rejects(tokens.verify(await sign({ ...claims, scope: ['svc:device:write'] })), invalid(/scope/));
  await t.rejects(tokens.verify(await sign({ ...claims, scope: undefined })), invalid(/scope/));
  await t.rejects(tokens.verify(new UnsecuredJWT(claims).encode()), { code: 'TOKEN_INVALID' });
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT', kid })).toString('base64url');
  const [, payload] = (await sign(claims)).split('.');
  await t.rejects(tokens.verify(`${none}.${payload}.`), invalid(/alg/));
  // Uses the public key as an HMAC secret, the known confusion of algorithms.
  const secret = new TextEncoder().encode(JSON.stringify((await tokens.jwks()).keys[0]));
  await t.rejects(tokens.verify(await sign(claims, { alg: 'HS256' }, secret)), invalid(/alg/));
  for (const text of ['', 'x', 'a.b.c', '..', `${await sign(claims)}x`])
    await t.rejects(tokens.verify(text), { code: 'TOKEN_INVALID' }, JSON.stringify(text.slice(0, 9)));
});

void t.test('a token of another issuer with the same keys is invalid', async (t) => {
  const { tokens, open } = await createTokens(t);
  const foreign = await open('https://other.example');
  const { accessToken } = await foreign.issue({ applicationId: 'app-1', secretMark: 'mark' }, ['svc:device:read']);
  await t.rejects(tokens.verify(accessToken), invalid(/iss/));
});

void t.test('only public halves are published', async (t) => {
  const { tokens } = await createTokens(t);
  const { keys } = await tokens.jwks();
  t.equal(keys.length, 1);
  t.strictSame(Object.keys(keys[0] ?? {}).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
});

void t.test('keys and tokens survive a restart', async (t) => {
  const { tokens, open } = await createTokens(t);
  const { accessToken } = await tokens.issue({ applicationId: 'app-1', secretMark: 'mark' }, ['svc:device:read']);
  const again = await open();
  t.strictSame(await again.jwks(), await tokens.jwks());
  t.equal((await again.verify(accessToken)).applicationId, 'app-1');
});

void t.test(
  'after 30 days there is a new key; it signs when it was published for a while, and the old one stays until its last token expired',
  async (t) => {
    const { tokens, clock, database } = await createTokens(t);
    const [first] = (await tokens.jwks()).keys;
    clock.advance(30 * DAY - 1);
    await tokens.rotate();
    t.strictSame((await tokens.jwks()).keys, [first], 'not before its time');
    clock.advance(1); // the timer
    await tokens.rotate(); // waits for the work that the timer began
    const [second, ...older] = (await tokens.jwks()).keys;
    t.not(second?.kid, first?.kid);
    t.strictSame(older, [first]);
    const signs = async () =>
      decodeProtectedHeader(
        (await tokens.issue({ applicationId: 'app-1', secretMark: 'mark' }, ['svc:device:read'])).accessToken,
      ).kid;
    clock.advance(10 * 60_000 - 1);
    const { accessToken: last } = await tokens.issue({ applicationId: 'app-1', secretMark: 'mark' }, [
      'svc:device:read',
    ]);
    t.equal(await signs(), first?.kid, 'nobody needs a key yet that may not be known to him');
    clock.advance(1);
    t.equal(await signs(), second?.kid);

    clock.advance(HOUR - 2000);
    t.equal((await tokens.verify(last)).applicationId, 'app-1');
    clock.advance(62_000);
    await tokens.rotate();
    t.strictSame((await tokens.jwks()).keys, [second]);
    t.strictSame(await database.read.all('SELECT key_id AS kid FROM signing_keys'), [{ kid: second?.kid }]);
  },
);

void t.test('a service that was down for long rotates at its start', async (t) => {
  const { tokens, clock, open } = await createTokens(t);
  await tokens[Symbol.asyncDispose]();
  t.equal(clock.timers(), 0, 'nothing is left behind');
  clock.advance(90 * DAY);
  const again = await open();
  t.equal((await again.jwks()).keys.length, 2);
  clock.advance(HOUR + 11 * 60_000);
  await again.rotate();
  t.equal((await again.jwks()).keys.length, 1);
});

void t.test('a cached token is not verified twice, and the cache is bounded', async (t) => {
  const { tokens, database, clock } = await createTokens(t, { cached: 500 });
  const { kid, jwk } = await signingKey(database);
  const { accessToken } = await tokens.issue({ applicationId: 'app-1', secretMark: 'mark' }, ['svc:device:read']);
  const first = await tokens.verify(accessToken);
  t.equal(await tokens.verify(accessToken), first, 'the very same object');
  const now = Math.floor(clock.now() / 1_000_000);
  for (const used of [499, 1]) {
    t.equal(await tokens.verify(accessToken), first, 'it has room');
    await Promise.all(
      Array.from({ length: used }, async (_, index) => {
        const token = await new SignJWT({ scope: 'svc:device:read', jti: `${used} ${index}` })
          .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid })
          .setIssuer(issuer)
          .setSubject('app-2')
          .setIssuedAt(now)
          .setExpirationTime(now + 60)
          .sign(jwk);
        await tokens.verify(token);
      }),
    );
  }
  t.not(await tokens.verify(accessToken), first, 'it had to make room');
});
