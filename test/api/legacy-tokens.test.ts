import { createPublicKey } from 'node:crypto';
import { Writable } from 'node:stream';
import { type JWK, SignJWT, UnsecuredJWT } from 'jose';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';
import { ALL_LEGACY, BASE, createLegacyIssuer, ISSUER, LEGACY_SCOPES, makeKey } from './legacy-issuer.ts';
import { OPERATIONS, targetOf } from './operations.ts';

async function setUp(t: Test, more: Record<string, string> = {}) {
  const clock = createFakeClock();
  const issuer = await createLegacyIssuer(t, clock);
  let logged = '';
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      logged += chunk.toString();
      done();
    },
  });
  const log = createLog({ level: 'trace', destination });
  const world = await startWorld(t, { clock, log, env: { ...issuer.env, ...more } });
  const signatures: string[] = [];
  const tenant = await world.createTenant();
  const { applicationId, path } = tenant;
  const anonymous = world.anonymous();
  const fetched = async (outcome: string): Promise<number> => {
    const { values } = await world.service.metrics.legacyKeyFetches.get();
    return values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
  };
  return {
    clock,
    issuer,
    world,
    tenant,
    applicationId,
    anonymous,
    fetched,
    /** Reads the settings of the application with a token. */
    get: (token: string) => anonymous.get(path, { token }),
    async sign(claims: Record<string, unknown> = {}, how: Parameters<typeof issuer.sign>[2] = {}) {
      const token = await issuer.sign(applicationId, claims, how);
      signatures.push(token.slice(-32));
      return token;
    },
    logged: () => logged,
    signatures,
  };
}

t.test('tokens of the legacy issuer', async (t) => {
  const { clock, issuer, world, tenant, applicationId, anonymous, fetched, get, sign, ...rest } = await setUp(t);

  t.test('the keys are fetched when first needed, once for all callers', async (t) => {
    t.equal(issuer.fetches(), 0);
    const tokens = await Promise.all([1, 2, 3, 4].map((jti) => sign({ jti: String(jti) })));
    const answers = await Promise.all(tokens.map(get));
    t.same(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    t.equal(issuer.fetches(), 1);
    t.equal(await fetched('fetched'), 1);
  });

  t.test('every operation accepts tokens of both issuers, and needs its own scope from both', async (t) => {
    const legacy = await sign();
    const own = await world.tokenOf(applicationId, tenant.secret);
    const wrong: string[] = [];
    for (const row of OPERATIONS) {
      const target = targetOf(row, { applicationId });
      const others = Object.keys(LEGACY_SCOPES).filter((scope) => scope !== row.scope);
      const lacking = await sign({ scope: others.map((scope) => LEGACY_SCOPES[scope]).join(' ') });
      for (const token of [legacy, own]) {
        const { status, body } = await anonymous.request(row.method, target, { token });
        if (status === 401 || /token|scope/.test(String(body?.message))) wrong.push(`${row.op}: ${status}`);
      }
      const refused = await anonymous.request(row.method, target, { token: lacking });
      const message = `the access token lacks the scope ${row.scope}.`;
      if (refused.status !== 403 || refused.body.message !== message) wrong.push(`${row.op} without its scope`);
      const foreign = await anonymous.request(row.method, targetOf(row, { applicationId: 'other' }), { token: legacy });
      if (foreign.status !== 403) wrong.push(`${row.op} of another application`);
      const late = await anonymous.request(row.method, target, { token: await sign({ exp: 1 }) });
      const challenge = `Bearer realm="lapel", error="invalid_token", scope="${row.scope}"`;
      if (late.status !== 401 || late.headers['www-authenticate'] !== challenge) wrong.push(`${row.op} expired`);
    }
    t.same(wrong, []);
    t.equal(issuer.fetches(), 1);
  });

  t.test('a token of an application that does not exist is answered 403', async (t) => {
    const answer = await anonymous.get('/v1/applications/nobody', { token: await issuer.sign('nobody') });
    t.match(answer, { status: 403, body: { message: 'application is not registered.' } });
  });

  t.test('unknown scopes are ignored', async (t) => {
    const read = async (scope: unknown) => (await get(await sign({ scope }))).status;
    t.equal(await read(`openid ${BASE}/applications.r ${BASE}/root`), 200);
    for (const scope of [
      undefined,
      '',
      'applications.r',
      'svc:application:read',
      `${BASE}applications.r`,
      `${BASE}/x`,
    ]) {
      t.equal(await read(scope), 403, String(scope));
    }
    t.equal(await read([`${BASE}/applications.r`]), 401, 'a list');
  });

  t.test('tokens that are forged, foreign, expired or malformed are answered 401', async (t) => {
    const other = await makeKey('first');
    const [head = '', body = '', signature = ''] = (await sign()).split('.');
    const now = Math.floor(clock.now() / 1_000_000);
    const claims = { iss: ISSUER, client_id: applicationId, scope: ALL_LEGACY, exp: now + 3600 };
    const { publicJwk } = issuer.first;
    const pem = createPublicKey({ key: publicJwk as Record<string, string>, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });
    const hmac = (secret: Uint8Array) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret);
    const bad: Record<string, string> = {
      'signed with another key': await sign({}, { key: other }),
      'alg none': new UnsecuredJWT(claims).encode(),
      'alg none with the key id': `${Buffer.from('{"alg":"none","kid":"first"}').toString('base64url')}.${body}.`,
      'HS256 with the public key as PEM': await hmac(Buffer.from(pem)),
      'HS256 with the public key as JWK': await hmac(new TextEncoder().encode(JSON.stringify(publicJwk))),
      'another issuer': await sign({ iss: 'https://other.example' }),
      'the issuer with a slash': await sign({ iss: `${ISSUER}/` }),
      'the own issuer': await sign({ iss: world.service.addresses.http, sub: applicationId, jti: 'x' }),
      'without its signature': `${head}.${body}.`,
      'a truncated signature': `${head}.${body}.${signature.slice(0, -8)}`,
      'another body': `${head}.${Buffer.from(JSON.stringify({ ...claims, client_id: 'x' })).toString('base64url')}.${signature}`,
      expired: await sign({ exp: now - 30 }),
      'without an end': await sign({ exp: undefined }),
      'not yet valid': await sign({ nbf: now + 60 }),
      'without a client': await sign({ client_id: undefined }),
      'a client that is no text': await sign({ client_id: 7 }),
      'for somebody else': await sign({ aud: 'https://other.example' }),
      'for somebody else, in a list': await sign({ aud: ['https://other.example'] }),
    };
    for (const [name, token] of Object.entries(bad)) {
      const answer = await get(token);
      t.match(answer, { status: 401, body: { message: 'access token is invalid.' } }, name);
    }
    t.equal(issuer.fetches(), 1, 'and none of them made the service ask for keys');
  });

  t.test('a token may have no audience, or this service as its audience', async (t) => {
    const { http } = world.service.addresses;
    for (const aud of [undefined, http, ['https://other.example', http]]) {
      t.equal((await get(await sign({ aud }))).status, 200, String(aud));
    }
  });

  t.test('a token is valid until it expires by a clock that may be 30 s behind, and not longer', async (t) => {
    const token = await sign({ exp: Math.floor(clock.now() / 1_000_000) + 60 });
    t.equal((await get(token)).status, 200);
    clock.advance(89_000);
    t.equal((await get(token)).status, 200);
    clock.advance(1_000);
    t.equal((await get(token)).status, 401);
    const soon = await sign({ exp: Math.floor(clock.now() / 1_000_000) - 20, nbf: undefined });
    t.equal((await get(soon)).status, 200, 'also one that comes for the first time');
  });

  t.test(
    'a new key of the issuer is found by the first token that names it; forged key ids cause no storm',
    async (t) => {
      const second = await makeKey('second', 'ES256');
      const [before, legacy] = [issuer.fetches(), await sign()];
      t.equal((await get(legacy)).status, 200);
      issuer.publish(issuer.first.publicJwk, second.publicJwk);
      const token = await sign({}, { key: second });
      t.equal((await get(token)).status, 200);
      t.equal(issuer.fetches(), before + 1);
      const forged = await Promise.all(
        Array.from({ length: 20 }, (_, i) => sign({}, { header: { kid: `forged-${i}` } })),
      );
      const refused = async () => {
        for (const { status } of await Promise.all(forged.map(get))) t.ok([401, 503].includes(status));
      };
      await refused();
      t.ok(issuer.fetches() <= before + 4, 'a few times at once');
      clock.advance(29_999);
      const then = issuer.fetches();
      await refused();
      t.equal(issuer.fetches(), then, 'and no more within 30 s');
      clock.advance(90_000);

      const third = await makeKey('third', 'ES256');
      issuer.publish(issuer.first.publicJwk, second.publicJwk, third.publicJwk);
      const rotated = await sign({}, { key: third });
      t.equal((await get(rotated)).status, 200, 'a key that is new within 30 s of the last look is found at once');
      const invented = async (kid: string) => get(await sign({}, { header: { kid } }));
      const answers = [await invented('a'), await invented('b'), await invented('c')];
      t.equal(answers[0]?.status, 401, 'the issuer does not have it');
      t.match(
        answers.at(-1),
        { status: 503, headers: { 'retry-after': /^\d+$/ } },
        'nobody asked the issuer for this one',
      );
      t.equal((await get(legacy)).status, 200, 'and known keys go on');
    },
  );

  t.test('every asymmetric algorithm is accepted, and a key only with its own', async (t) => {
    const algorithms = ['RS512', 'PS256', 'ES256', 'ES384', 'ES512', 'Ed25519'];
    const keys = await Promise.all(algorithms.map((alg) => makeKey(`key-${alg}`, alg)));
    issuer.publish(issuer.first.publicJwk, ...keys.map(({ publicJwk }) => publicJwk));
    clock.advance(30_000);
    for (const key of keys) t.equal((await get(await sign({}, { key }))).status, 200, key.alg);
    const rsa = keys[0]!;
    const crossed = await sign({}, { key: rsa, header: { kid: 'key-ES256' } });
    t.equal((await get(crossed)).status, 401);
  });

  t.test('a key that the issuer withdraws is out of use after twenty minutes at the latest', async (t) => {
    const second = await makeKey('third', 'ES256');
    const old = await sign({}, {});
    clock.advance(600_000);
    t.equal((await get(await sign({ jti: 'fetches the keys' }))).status, 200);
    clock.advance(300_000);
    t.equal((await get(old)).status, 200);
    issuer.publish(second.publicJwk);
    clock.advance(300_000);
    t.equal((await get(await sign({}, { key: second }))).status, 200, 'the keys are fetched anew after ten minutes');
    t.equal((await get(await sign({ jti: 'x' }))).status, 401, 'for new tokens of the old key at once');
    clock.advance(299_999);
    t.equal((await get(old)).status, 200, 'a token is checked again ten minutes after its last check');
    clock.advance(1);
    t.equal((await get(old)).status, 401);
    issuer.publish(issuer.first.publicJwk);
    clock.advance(600_000);
    t.equal((await get(await sign())).status, 200);
  });

  t.test('while the issuer is down, or its answer is unusable, the last good keys stay', async (t) => {
    const many = Array.from({ length: 101 }, (_, i) => ({ ...issuer.first.publicJwk, kid: `k${i}` }) as JWK);
    const answers = {
      '500': { status: 500 },
      'a redirect': { status: 302, headers: { location: issuer.env.LAPEL_LEGACY_JWKS_URL } },
      'no JSON': { body: '<html>' },
      'no keys': { body: '{}' },
      'more than 64 KiB': { body: JSON.stringify({ keys: [issuer.first.publicJwk], more: ' '.repeat(64 * 1024) }) },
      'more than 100 keys': { body: JSON.stringify({ keys: many }) },
    };
    for (const [name, answer] of Object.entries(answers)) {
      issuer.server.answer(answer);
      clock.advance(600_000);
      const [fetches, failed] = [issuer.fetches(), await fetched('failed')];
      t.equal((await get(await sign())).status, 200, name);
      t.equal((await get(await sign({ jti: 'again' }))).status, 200);
      t.equal(await fetched('failed'), failed + 1, `${name} is counted`);
      t.ok(issuer.fetches() - fetches <= 1, 'and not asked for again at once');
    }
  });

  t.test('even at the level trace the log has no token; it reports that the issuer is down', async (t) => {
    const text = rest.logged();
    t.ok(rest.signatures.length > 80);
    t.same(
      rest.signatures.filter((signature) => text.includes(signature)),
      [],
    );
    t.match(text, 'the keys of the legacy issuer could not be fetched');
  });
});

t.test('the audience of legacy tokens can be set', async (t) => {
  const { get, sign, world } = await setUp(t, { LAPEL_LEGACY_AUDIENCE: 'lapel' });
  const statusOf = async (aud: unknown) => (await get(await sign({ aud }))).status;
  t.equal(await statusOf('lapel'), 200);
  t.equal(await statusOf(['other', 'lapel']), 200);
  for (const aud of [undefined, 'other', [], world.service.addresses.http]) t.equal(await statusOf(aud), 401);
});

t.test('until the keys are fetched a legacy token is answered 503, and own tokens are accepted', async (t) => {
  const { clock, issuer, get, sign, tenant } = await setUp(t);
  issuer.server.answer({ hang: true });
  const token = await sign();
  const pending = get(token);
  await until(() => issuer.server.open() !== 0);
  clock.advance(5_000);
  const message = 'the issuer of the access token is unavailable; try again later.';
  t.match(await pending, { status: 503, body: { message }, headers: { 'retry-after': '30' } });
  t.equal((await tenant.api.get(tenant.path)).status, 200);
  t.equal((await get(token)).status, 503, 'at once: the issuer is left in peace for 30 s');
  t.equal(issuer.fetches(), 1);
  issuer.publish(issuer.first.publicJwk);
  clock.advance(25_000);
  t.equal((await get(token)).status, 200);
});

t.test('without the settings a legacy token is one of an unknown issuer', async (t) => {
  const clock = createFakeClock();
  const issuer = await createLegacyIssuer(t, clock);
  const world = await startWorld(t, { clock });
  const { applicationId, path } = await world.createTenant();
  t.equal((await world.anonymous().get(path, { token: await issuer.sign(applicationId) })).status, 401);
  t.equal(issuer.fetches(), 0);
});

t.test('the settings go together', async (t) => {
  const all = {
    LAPEL_LEGACY_ISSUER: ISSUER,
    LAPEL_LEGACY_JWKS_URL: 'https://legacy.example/jwks.json?policy=a',
    LAPEL_LEGACY_SCOPE_BASE: `${BASE}//`,
  };
  const said = (env: Record<string, string | undefined>): unknown => {
    try {
      return readConfig({ env }).legacy;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const jwksUrl = all.LAPEL_LEGACY_JWKS_URL;
  t.same(said(all), { issuer: ISSUER, jwksUrl, scopeBase: BASE, audience: null });
  t.match(said({ ...all, LAPEL_LEGACY_AUDIENCE: 'lapel' }), { audience: 'lapel' });
  t.equal(said({}), null);
  const { LAPEL_LEGACY_ISSUER: _, ...rest } = all;
  t.equal(said(rest), 'LAPEL_LEGACY_JWKS_URL: needs LAPEL_LEGACY_ISSUER');
  t.equal(said({ LAPEL_LEGACY_AUDIENCE: 'a' }), 'LAPEL_LEGACY_AUDIENCE: needs LAPEL_LEGACY_ISSUER');
  for (const name of ['LAPEL_LEGACY_JWKS_URL', 'LAPEL_LEGACY_SCOPE_BASE']) {
    t.equal(said({ ...all, [name]: undefined }), `${name}: is needed with LAPEL_LEGACY_ISSUER`);
  }
  t.equal(said({ ...all, LAPEL_LEGACY_SCOPE_BASE: 'a b' }), 'LAPEL_LEGACY_SCOPE_BASE: must have no spaces');
  t.match(
    said({ ...all, LAPEL_LEGACY_JWKS_URL: 'http://legacy.example/' }),
    /^LAPEL_LEGACY_JWKS_URL: must be .* https/,
  );
  t.match(said({ ...all, LAPEL_LEGACY_JWKS_URL: 'http://127.0.0.1:1/' }), { jwksUrl: 'http://127.0.0.1:1/' });
  t.match(said({ ...all, LAPEL_PUBLIC_URL: `${ISSUER}/` }), /^LAPEL_LEGACY_ISSUER: must differ/);
  t.match(said({ ...all, LAPEL_LEGACY_ISSUER: 'http://127.0.0.1:8080' }), /^LAPEL_LEGACY_ISSUER: must differ/);
});
