import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import t from 'tap';
import type { RequestOptions } from '../contract/checked-client.ts';
import { ALL_SCOPES, startWorld } from '../world.ts';

const DAY = 24 * 3600 * 1000;
const FORM = 'application/x-www-form-urlencoded';
const basic = (text: string, scheme = 'Basic'): string => `${scheme} ${Buffer.from(text).toString('base64')}`;

t.test('the token endpoint', async (t) => {
  const world = await startWorld(t);
  const { applicationId, secret, path } = await world.createTenant();
  const anonymous = world.anonymous();
  const grant = { grant_type: 'client_credentials', scope: ALL_SCOPES };
  const ask = (options: RequestOptions) => anonymous.post('/api/v1/authenticate', options);
  const askAs = (authorization: string, form: Record<string, string> = grant) =>
    ask({ headers: { authorization }, form });
  const own = basic(`${applicationId}:${secret}`);

  t.test('reads Basic as its RFCs say: any case, spaces, form-encoding, any base64 padding', async (t) => {
    const encoded = (text: string): string =>
      Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
    for (const [name, authorization] of Object.entries({
      plain: own,
      'in small letters': basic(`${applicationId}:${secret}`, 'basic'),
      'in capitals': basic(`${applicationId}:${secret}`, 'BASIC'),
      'with more spaces': basic(`${applicationId}:${secret}`, 'Basic  '),
      'form-encoded': basic(`${encoded(applicationId)}:${encoded(secret)}`),
      'without padding': own.replace(/=+$/, ''),
    })) {
      const answer = await askAs(authorization);
      t.equal(answer.status, 200, name);
      t.equal((await anonymous.get(path, { token: answer.body.access_token })).status, 200);
    }
    const typed = await ask({
      headers: { authorization: own, 'content-type': `${FORM}; charset=UTF-8` },
      text: `grant_type=client_credentials&scope=${ALL_SCOPES.replaceAll(' ', '+')}&unknown=x`,
    });
    t.equal(typed.status, 200, 'a form with a charset, and with a parameter that is not known (RFC 6749 3.2)');
  });

  t.test('answers 401 invalid_client to every other client, with its challenge', async (t) => {
    for (const [name, authorization] of Object.entries({
      'an empty secret': basic(`${applicationId}:`),
      'an empty user': basic(`:${secret}`),
      nothing: basic(''),
      'a colon alone': basic(':'),
      'the secret twice': basic(`${applicationId}:${secret}:${secret}`),
      'a space after it': basic(`${applicationId}:${secret} `),
      'the secret shortened': basic(`${applicationId}:${secret.slice(0, -1)}`),
      'the secret in other letters': basic(`${applicationId}:${secret.toUpperCase()}`),
      'the application in other letters': basic(`${applicationId.toUpperCase()}:${secret}`),
      'half an escape': basic(`${applicationId}:%`),
      'a NUL': basic(`${applicationId}\u0000:${secret}`),
      SQL: basic(`' OR 1=1 --:${secret}`),
      'no base64': 'Basic §§§',
      'base64 in the URL alphabet': 'Basic --__',
      'no credentials': 'Basic',
      Bearer: `Bearer ${secret}`,
      Digest: `Digest username="${applicationId}"`,
    })) {
      const answer = await askAs(Buffer.from(authorization, 'utf8').toString('latin1'));
      t.match(answer, { status: 401, body: { error: 'invalid_client' } }, name);
      t.match(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' });
      t.equal(answer.headers['www-authenticate'], 'Basic realm="lapel", charset="UTF-8"');
      t.notMatch(JSON.stringify(answer.body), secret);
    }
    const inBody = await ask({ form: { ...grant, client_id: applicationId, client_secret: secret } });
    t.match(inBody, { status: 401, body: { error: 'invalid_client' } }, 'credentials in the form');
  });

  t.test('answers 400 with the error of RFC 6749 5.2 to a request that is wrong, never to be stored', async (t) => {
    const form = (text: string | Buffer, type = FORM): RequestOptions => ({
      text,
      headers: { authorization: own, 'content-type': type },
    });
    const rows: [name: string, options: RequestOptions, error: string][] = [
      ['another type', form(JSON.stringify(grant), 'application/json'), 'invalid_request'],
      ['a type that only begins as a form', form('grant_type=client_credentials', `${FORM}x`), 'invalid_request'],
      ['no type', { headers: { authorization: own }, text: 'grant_type=client_credentials' }, 'invalid_request'],
      ['an empty form', form(''), 'invalid_request'],
      ['an empty grant_type', form('grant_type=&scope=svc:device:read'), 'invalid_request'],
      ['GRANT_TYPE', form('GRANT_TYPE=client_credentials&scope=svc:device:read'), 'invalid_request'],
      [
        'grant_type twice',
        form('grant_type=client_credentials&grant_type=client_credentials&scope=svc:device:read'),
        'invalid_request',
      ],
      [
        'scope twice',
        form('grant_type=client_credentials&scope=svc:device:read&scope=svc:device:read'),
        'invalid_request',
      ],
      [
        'bytes that are no UTF-8',
        form(Buffer.from('grant_type=client_credentials&scope=\xff', 'latin1')),
        'invalid_request',
      ],
      [
        'a compressed form',
        { ...form('x'), headers: { authorization: own, 'content-type': FORM, 'content-encoding': 'gzip' } },
        'invalid_request',
      ],
      ['authorization_code', form('grant_type=authorization_code&code=x'), 'unsupported_grant_type'],
      ['refresh_token', form('grant_type=refresh_token&refresh_token=x'), 'unsupported_grant_type'],
      ['Client_Credentials', form('grant_type=Client_Credentials&scope=svc:device:read'), 'unsupported_grant_type'],
      ['no scope', form('grant_type=client_credentials'), 'invalid_scope'],
      ['an empty scope', form('grant_type=client_credentials&scope='), 'invalid_scope'],
      ['one unknown scope', form('grant_type=client_credentials&scope=svc:device:read+svc:root'), 'invalid_scope'],
      ['a scope in other letters', form('grant_type=client_credentials&scope=SVC:device:read'), 'invalid_scope'],
      [
        'scopes with a comma',
        form('grant_type=client_credentials&scope=svc:device:read,svc:device:write'),
        'invalid_scope',
      ],
      ['two spaces', form('grant_type=client_credentials&scope=svc:device:read++svc:device:write'), 'invalid_scope'],
      ['a scope of the language', form('grant_type=client_credentials&scope=__proto__'), 'invalid_scope'],
    ];
    for (const [name, options, error] of rows) {
      const answer = await ask(options);
      t.match(answer, { status: 400, body: { error } }, name);
      t.match(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' });
    }
    const named = await anonymous.post(
      '/api/v1/authenticate?a%22b%5C%C3%A9%00=1',
      form('grant_type=client_credentials'),
    );
    t.match(named.body, { error_description: 'query.a?b???: Extra inputs are not permitted' }, 'RFC 6749 5.2');
    const large = await ask(form(`grant_type=${'x'.repeat(8 * 1024)}`));
    t.match(large, { status: 413, body: { error: 'invalid_request' }, headers: { 'cache-control': 'no-store' } });
    t.match(large.body, { error_description: 'request body is larger than 8192 bytes' });
    t.match(large.headers, { 'lapel-error-code': 'BODY_TOO_LARGE' });
  });

  t.test('gives the scopes asked for and no others, in their order, each once', async (t) => {
    const scope = 'svc:device:write svc:device:read svc:device:write svc:communication-service';
    const { body } = await askAs(own, { ...grant, scope });
    t.equal(body.scope, 'svc:device:write svc:device:read svc:communication-service');
    t.same({ type: body.token_type, expires: body.expires_in }, { type: 'bearer', expires: 3600 });
    const get = (target: string) => anonymous.get(target, { token: body.access_token });
    t.equal((await get(`${path}/devices/status`)).status, 200);
    t.equal((await get(path)).status, 403);
  });

  t.test('makes tokens that anyone can verify by the published keys', async (t) => {
    const { body } = await askAs(own);
    const metadata = (await anonymous.get('/.well-known/oauth-authorization-server')).body;
    t.same(
      metadata,
      {
        issuer: world.service.addresses.http,
        token_endpoint: `${world.service.addresses.http}/api/v1/authenticate`,
        jwks_uri: `${world.service.addresses.http}/.well-known/jwks.json`,
        scopes_supported: [...ALL_SCOPES.split(' '), 'svc:communication-service'],
        response_types_supported: [],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      },
      'RFC 8414',
    );
    const jwks = (await anonymous.get(new URL(metadata.jwks_uri).pathname)).body;
    const { payload, protectedHeader } = await jwtVerify(body.access_token, createLocalJWKSet(jwks), {
      issuer: metadata.issuer,
      currentDate: new Date(world.clock.now() / 1000),
    });
    t.match(protectedHeader, { alg: 'ES256', kid: jwks.keys[0].kid });
    t.match(payload, { sub: applicationId, scope: ALL_SCOPES, jti: /^[0-9a-f-]{36}$/ });
    t.equal(Number(payload.exp) - Number(payload.iat), 3600);
    t.same(Object.keys(jwks.keys[0]).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'], 'and nothing private');
    const again = await askAs(own);
    t.not(again.body.access_token, body.access_token, 'each token is another');
  });
});

t.test('a token lives 3600 seconds, to the second, however often it was used', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const unused = await world.clientOf(tenant.applicationId, tenant.secret);
  world.clock.advance(3599_800);
  t.equal((await tenant.api.get(tenant.path)).status, 200);
  world.clock.advance(200);
  for (const client of [tenant.api, unused, tenant.api]) {
    const answer = await client.get(tenant.path);
    t.match(answer, { status: 401, body: { message: 'access token is invalid.' } });
    t.match(answer.headers['www-authenticate'], 'error="invalid_token"');
  }
  await tenant.renew();
  t.equal((await tenant.api.get(tenant.path)).status, 200);
});

t.test('a new secret ends the old one and its tokens at once', async (t) => {
  const world = await startWorld(t);
  const { applicationId, secret, api, path } = await world.createTenant();
  const statusOf = async (password: string): Promise<number> => {
    const headers = { authorization: basic(`${applicationId}:${password}`) };
    const form = { grant_type: 'client_credentials', scope: ALL_SCOPES };
    return (await world.anonymous().post('/api/v1/authenticate', { headers, form })).status;
  };
  const secrets = [secret];
  for (let index = 0; index < 3; index += 1) {
    const { status, body } = await world.admin().post(`/admin/v1/applications/${applicationId}/secret`);
    t.equal(status, 201);
    secrets.push(body.secret);
    t.same(
      await Promise.all(secrets.map(statusOf)),
      secrets.map((one) => (one === body.secret ? 200 : 401)),
    );
  }
  t.equal(new Set(secrets).size, 4);
  for (const one of secrets) t.ok(Buffer.from(one, 'base64url').length >= 32, '256 bits');
  t.match(await api.get(path), { status: 401, headers: { 'lapel-error-code': 'TOKEN_INVALID' } });
  const fresh = await world.clientOf(applicationId, secrets.at(-1) ?? '');
  t.equal((await fresh.get(path)).status, 200);
  world.clock.advance(3600_000);
  t.equal((await fresh.get(path)).status, 401);
});

t.test(
  'after 30 days a new key is published, and then signs; the old one is published until its last token has expired',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const kids = async (): Promise<string[]> =>
      (await world.anonymous().get('/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid);
    const kidOf = (token: string) => decodeProtectedHeader(token).kid;
    const [first] = await kids();

    world.clock.leap(30 * DAY - 60_000);
    t.equal(kidOf(await world.tokenOf(tenant.applicationId, tenant.secret)), first);
    t.equal((await kids()).length, 1);
    world.clock.advance(60_000);
    while ((await kids()).length < 2) await world.idle();
    const [second, former] = await kids();
    t.equal(former, first);
    world.clock.advance(600_000 - 1);
    const oldToken = await world.tokenOf(tenant.applicationId, tenant.secret);
    t.equal(kidOf(oldToken), first, 'the new one is published before it signs');
    world.clock.advance(1);
    const newToken = await world.tokenOf(tenant.applicationId, tenant.secret);
    t.equal(kidOf(newToken), second);
    const statusOf = async (token: string) => (await world.anonymous().get(tenant.path, { token })).status;
    t.same([await statusOf(oldToken), await statusOf(newToken)], [200, 200]);

    world.clock.advance(3500_000);
    t.same(await kids(), [second, first]);
    t.same([await statusOf(oldToken), await statusOf(newToken)], [200, 200]);
    world.clock.advance(200_000);
    while ((await kids()).length > 1) await world.idle();
    t.same(await kids(), [second]);
    t.equal(await statusOf(oldToken), 401);

    world.clock.leap(31 * DAY);
    while ((await kids())[0] === second) await world.idle();
    await tenant.renew();
    t.equal((await tenant.api.get(tenant.path)).status, 200, 'and so on, month by month');
  },
);

t.test('the keys survive a restart', async (t) => {
  const world = await startWorld(t);
  const keys = async () => (await world.anonymous().get('/.well-known/jwks.json')).body;
  const before = await keys();
  await world.restart();
  t.same(await keys(), before);
});
