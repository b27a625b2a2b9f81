import Sqlite from 'better-sqlite3';
import { generateKeyPair, importJWK, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import t from 'tap';
import { createClient } from '../contract/checked-client.ts';
import { ALL_SCOPES, startWorld } from '../world.ts';

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

t.test('an application gets a token for the scopes that it asks for', async (t) => {
  const world = await startWorld(t);
  const { applicationId, secret } = await world.createTenant();
  const anonymous = createClient({ baseUrl: world.service.addresses.http });
  const answer = await anonymous.post('/api/v1/authenticate', {
    headers: { authorization: basic(applicationId, secret) },
    form: { grant_type: 'client_credentials', scope: 'svc:device:read svc:application:read' },
  });
  t.match(answer, {
    status: 200,
    headers: { 'cache-control': 'no-store', pragma: 'no-cache' },
    body: { token_type: 'bearer', expires_in: 3600, scope: 'svc:device:read svc:application:read' },
  });
  const reader = createClient({ baseUrl: world.service.addresses.http, token: answer.body.access_token });
  t.equal((await reader.get(`/v1/applications/${applicationId}`)).status, 200);
  t.equal((await reader.post(`/v1/applications/${applicationId}/refresh_authkey`)).status, 403);
});

t.test('errors of the token endpoint are those of RFC 6749 5.2, and are never stored', async (t) => {
  const world = await startWorld(t);
  const { applicationId, secret } = await world.createTenant();
  const anonymous = createClient({ baseUrl: world.service.addresses.http });
  const good = { grant_type: 'client_credentials', scope: ALL_SCOPES };
  const authorization = basic(applicationId, secret);
  const form = (fields: Record<string, string>) => ({ headers: { authorization }, form: fields });
  const text = (body: string) => ({
    headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    text: body,
  });
  const cases: [string, Parameters<typeof anonymous.post>[1], number, string][] = [
    ['no Basic', { form: good }, 401, 'invalid_client'],
    ['Bearer instead', { headers: { authorization: 'Bearer x' }, form: good }, 401, 'invalid_client'],
    ['no base64', { headers: { authorization: 'Basic !' }, form: good }, 401, 'invalid_client'],
    ['no colon', { headers: { authorization: 'Basic YWJj' }, form: good }, 401, 'invalid_client'],
    ['wrong secret', { headers: { authorization: basic(applicationId, 'x') }, form: good }, 401, 'invalid_client'],
    ['unknown application', { headers: { authorization: basic('nobody', secret) }, form: good }, 401, 'invalid_client'],
    ['JSON', { headers: { authorization }, json: good }, 400, 'invalid_request'],
    ['no body', { headers: { authorization } }, 400, 'invalid_request'],
    ['no grant_type', form({ scope: ALL_SCOPES }), 400, 'invalid_request'],
    ['grant_type twice', text('grant_type=client_credentials&grant_type=a&scope=a'), 400, 'invalid_request'],
    ['scope twice', text('grant_type=client_credentials&scope=svc:device:read&scope=b'), 400, 'invalid_request'],
    ['another grant', form({ ...good, grant_type: 'password' }), 400, 'unsupported_grant_type'],
    ['no scope', form({ grant_type: 'client_credentials' }), 400, 'invalid_scope'],
    ['an unknown scope', form({ ...good, scope: 'svc:device:read root' }), 400, 'invalid_scope'],
  ];
  for (const [name, options, status, error] of cases) {
    const answer = await anonymous.post('/api/v1/authenticate', options);
    t.match(answer, { status, body: { error }, headers: { 'cache-control': 'no-store' } }, name);
    if (status === 401) t.match(answer.headers['www-authenticate'], /^Basic realm=/, name);
  }
});

t.test('the documents of the token service say where everything is', async (t) => {
  const world = await startWorld(t);
  const { http } = world.service.addresses;
  const anonymous = createClient({ baseUrl: http });
  const { body } = await anonymous.get('/.well-known/oauth-authorization-server');
  t.match(body, {
    issuer: http,
    token_endpoint: `${http}/api/v1/authenticate`,
    jwks_uri: `${http}/.well-known/jwks.json`,
  });
  const { body: keys } = await anonymous.get('/.well-known/jwks.json');
  t.match(keys.keys, [{ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', d: undefined }]);
});

t.test('a request without a good token is challenged (RFC 6750 3)', async (t) => {
  const world = await startWorld(t);
  const { path, applicationId, secret } = await world.createTenant();
  const client = createClient({ baseUrl: world.service.addresses.http });
  const missing = await client.get(path);
  t.match(missing, { status: 401, body: { message: 'access token is missing.' } });
  t.equal(missing.headers['www-authenticate'], 'Bearer realm="lapel", scope="svc:application:read"');
  const basicInstead = await client.get(path, { headers: { authorization: basic(applicationId, secret) } });
  t.equal(basicInstead.status, 401);
  const narrow = await world.clientOf(applicationId, secret, 'svc:device:read');
  const insufficient = await narrow.get(path);
  t.match(insufficient, { status: 403, body: { message: 'the access token lacks the scope svc:application:read.' } });
  t.equal(
    insufficient.headers['www-authenticate'],
    'Bearer realm="lapel", error="insufficient_scope", scope="svc:application:read"',
  );
});

t.test('tokens that are forged, foreign or malformed are invalid', async (t) => {
  const world = await startWorld(t);
  const { path, applicationId } = await world.createTenant();
  const { http } = world.service.addresses;
  const client = createClient({ baseUrl: http });
  const { kid } = (await client.get('/.well-known/jwks.json')).body.keys[0];
  const { privateKey } = await generateKeyPair('ES256');
  const now = world.clock.now() / 1_000_000;
  const claims = { scope: ALL_SCOPES, iss: http, sub: applicationId, iat: now, exp: now + 3600, jti: 'x' };
  const otherKey = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid }).sign(privateKey);
  const symmetric = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid })
    .sign(new TextEncoder().encode('a secret that is long enough for HS256'));
  const good = await world.createTenant('other');
  const own = String(await tokenOf(world, good.applicationId, good.secret));
  const tampered = `${own.slice(0, -6)}AAAAAA`;
  const bad = {
    otherKey,
    none: new UnsecuredJWT(claims).encode(),
    symmetric,
    tampered,
    word: 'abc',
    odd: 'a b',
    empty: '',
  };
  for (const [name, token] of Object.entries(bad)) {
    const answer = await client.get(path, { token });
    t.match(answer, { status: 401, body: { message: 'access token is invalid.' } }, name);
    t.match(answer.headers['www-authenticate'], 'error="invalid_token"', name);
  }
});

async function tokenOf(world: Awaited<ReturnType<typeof startWorld>>, user: string, password: string): Promise<string> {
  const answer = await createClient({ baseUrl: world.service.addresses.http }).post('/api/v1/authenticate', {
    headers: { authorization: basic(user, password) },
    form: { grant_type: 'client_credentials', scope: ALL_SCOPES },
  });
  return answer.body.access_token as string;
}

t.test('a token expires after an hour', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  world.clock.advance(3599_000);
  t.equal((await api.get(path)).status, 200);
  world.clock.advance(1_000);
  t.equal((await api.get(path)).status, 401);
});

t.test('a token is good only from this issuer, even with the right key', async (t) => {
  const world = await startWorld(t);
  const { path, applicationId } = await world.createTenant();
  const { http } = world.service.addresses;
  const database = new Sqlite(`${world.dataDir}/lapel.db`, { readonly: true });
  t.teardown(() => database.close());
  const row = database.prepare('SELECT key_id AS kid, private_jwk AS jwk FROM signing_keys').get() as Record<
    string,
    string
  >;
  const key = await importJWK(JSON.parse(row['jwk'] ?? '') as JWK, 'ES256');
  const now = world.clock.now() / 1_000_000;
  const statusOf = async (claims: Record<string, unknown>): Promise<number> => {
    const token = await new SignJWT({ scope: ALL_SCOPES, sub: applicationId, iat: now, jti: 'x', ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: row['kid'] ?? '' })
      .sign(key);
    return (await createClient({ baseUrl: http, token }).get(path)).status;
  };
  t.equal(await statusOf({ iss: http, exp: now + 60 }), 200);
  t.equal(await statusOf({ iss: 'http://elsewhere.example', exp: now + 60 }), 401);
  t.equal(await statusOf({ iss: http, exp: now - 60 }), 401, 'expired');
  t.equal(await statusOf({ iss: http }), 401, 'without an end');
});
