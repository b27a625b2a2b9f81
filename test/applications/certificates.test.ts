import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';
import { decodeJwt } from 'jose';
import t from 'tap';
import { request } from 'undici';
import { readConfig } from '../../src/config.ts';
import { acceptsCertificate } from '../../src/core/applications/certificates.ts';
import { ROUTES } from '../../src/edge/api/routes.ts';
import { createAuthority, skip } from '../broker/authority.ts';
import { DAY_MS, pem, startWithCertificates } from './certificate-world.ts';

const REFUSED = { status: 401, body: { message: 'access token is invalid.' } };

t.test('applications get their tokens with certificates', { skip }, async (t) => {
  const { world, http, ca, tls, authority, crl, clientWith, createApplication } = await startWithCertificates(t);
  const port = Number(new URL(http).port);
  const admin = world.admin();
  const selfSigned = createAuthority(tls, 'one').own();
  const successor = createAuthority(tls, 'two').own();
  const nobody = clientWith();

  t.test('the metadata name the ways, and that tokens are bound', async (t) => {
    const { body } = await nobody.call('/.well-known/oauth-authorization-server');
    t.match(body, {
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'tls_client_auth', 'self_signed_tls_client_auth'],
      tls_client_certificate_bound_access_tokens: true,
    });
  });

  t.test('a bound token is refused without its certificate, on every route', async (t) => {
    const { own } = await createApplication('bound', { certificate: pem(selfSigned) });
    const holder = clientWith(selfSigned);
    const token = await holder.token('bound');
    t.match(decodeJwt(token), { sub: 'bound', cnf: { 'x5t#S256': /^[\w-]{43}$/ } });
    t.equal((await holder.call(own, { token })).status, 200);
    const params = { name: 'access', arguments: {} };
    const asked = await holder.call('/mcp', {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    t.match(
      JSON.stringify(asked.body),
      'Application bound',
      'a tool of an assistant shows the certificate of its request',
    );
    const thieves = { 'without a certificate': nobody, 'with another one': clientWith(successor) };
    const routes = ROUTES.filter(({ scope }) => scope !== null);
    for (const [name, thief] of Object.entries(thieves)) {
      for (const { method, path } of routes) {
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, part) => (part === 'applicationId' ? 'bound' : 'x'));
        const answer = await thief.call(filled, { method, token });
        // `/mcp` says the same in the form of JSON-RPC.
        const { error = answer.body } = answer.body as { error?: object };
        t.match({ ...answer, body: error }, REFUSED, `${method} ${path} ${name}`);
        t.match(answer.headers['www-authenticate'], /error="invalid_token"/);
      }
    }
    t.match(
      await nobody.call(own, { token, headers: { 'client-cert': `:${selfSigned.cert.toString('base64')}:` } }),
      REFUSED,
    );
  });

  t.test('two certificates overlap; a revoked one ends its tokens and streams, and the other goes on', async (t) => {
    const { own, path, ids } = await createApplication('turned', { certificate: pem(selfSigned) });
    const [before, after] = [clientWith(selfSigned), clientWith(successor)];
    t.match(await after.askToken({ client_id: 'turned' }), { status: 401, body: { error: 'invalid_client' } });
    const old = await before.token('turned');
    await admin.post(`${path}/certificates`, { json: { name: 'next', certificate: pem(successor) } });
    const next = await after.token('turned');
    t.match(await after.call(own, { token: old }), REFUSED, 'a token belongs to one of them');
    const stream = await request(`${http}${own}/feed?topics=transactions`, {
      dispatcher: clientWith(selfSigned).agent,
      headers: { authorization: `Bearer ${old}` },
    });
    t.equal(stream.statusCode, 200);
    t.equal((await admin.delete(`${path}/certificates/${ids[0]}`)).status, 204);
    t.match(await stream.body.text(), /event: bye/, 'the stream ends');
    t.match(await before.call(own, { token: old }), REFUSED);
    t.match(await before.askToken({ client_id: 'turned' }), { status: 401 });
    t.equal((await after.call(own, { token: next })).status, 200);
    const { entries } = (await admin.get('/admin/v1/audit?about=application:turned&limit=10')).body;
    const routes = entries.map(({ action }: { action: string }) => action);
    t.ok(routes.includes('POST /admin/v1/applications/{applicationId}/certificates'));
    t.ok(routes.includes('DELETE /admin/v1/applications/{applicationId}/certificates/{certificateId}'));
  });

  t.test('a name counts in certificates of the CA only', async (t) => {
    const foreign = createAuthority(tls, 'foreign');
    const names = 'DNS:a.example.com,URI:spiffe://example.com/a';
    const good = authority.sign('named', 'named', 30, names);
    const forged = foreign.sign('named', 'forged', 30, names);
    const wild = authority.sign('*.example.com', 'wild', 30, 'DNS:*.example.com');
    const quoted = authority.sign('x', 'quoted', 30, 'DNS:x,URI:spiffe://example.com/a');
    for (const [application, name] of [
      ['by-subject', { subject: 'CN=named' }],
      ['by-dns', { dns: 'a.example.com' }],
      ['by-uri', { uri: 'spiffe://example.com/a' }],
    ] as const) {
      const { own } = await createApplication(application, name);
      const token = await clientWith(good).token(application);
      t.equal((await clientWith(good).call(own, { token })).status, 200, application);
      for (const [who, shown] of Object.entries({ forged, wild, selfSigned })) {
        const answer = await clientWith(shown).askToken({ client_id: application });
        t.match(answer, { status: 401, body: { error: 'invalid_client' } }, `${application}: ${who}`);
      }
    }
    t.equal((await clientWith(quoted).askToken({ client_id: 'by-uri' })).status, 200);
    t.equal((await clientWith(quoted).askToken({ client_id: 'by-dns' })).status, 401);
  });

  t.test('an application that demands its certificate gets nothing by its secret', async (t) => {
    const { own, path, basic } = await createApplication('strict');
    const refused = await admin.patch(path, { json: { authentication: 'certificate' } });
    t.match(refused, { status: 400, body: { details: [{ loc: ['body', 'authentication'] }] } }, 'it has none yet');
    await admin.post(`${path}/certificates`, { json: { name: 'x', certificate: pem(selfSigned) } });
    const holder = clientWith(selfSigned);
    const bySecret = String((await nobody.askToken({}, basic)).body['access_token']);
    const member = { name: 'Somebody', role: 'admin' };
    const ofPerson = String((await admin.post('/admin/v1/developers/dev/members', { json: member })).body.token);
    for (const token of [bySecret, ofPerson])
      t.equal((await nobody.call(own, { token })).status, 200, 'until it demands it, all are good');
    t.match(await admin.patch(path, { json: { authentication: 'certificate' } }), {
      status: 200,
      body: { authentication: 'certificate' },
    });
    t.match(await nobody.askToken({}, basic), { status: 401, body: { error_description: /certificate only/ } });
    t.match(await holder.askToken({}, basic), { status: 401 }, 'also on a connection with the certificate');
    t.match(await holder.call(own, { token: bySecret }), REFUSED, 'earlier tokens end');
    t.match(await nobody.call(own, { token: ofPerson }), REFUSED, 'the tokens of people are not bound either');
    t.equal((await holder.call(own, { token: await holder.token('strict') })).status, 200);
    const { entries } = (await admin.get('/admin/v1/audit?about=application:strict&limit=10')).body;
    t.ok(
      entries.some(({ details }: { details: unknown }) =>
        JSON.stringify(details).includes('"after":{"authentication":"certificate"}'),
      ),
    );
    t.equal((await admin.patch(path, { json: { authentication: 'secret' } })).status, 200);
    t.equal((await nobody.askToken({}, basic)).status, 200);
  });

  t.test('a request for a token names its application once, and shows a certificate', async (t) => {
    await createApplication('named-once', { certificate: pem(selfSigned) });
    const holder = clientWith(selfSigned);
    t.match(await nobody.askToken({ client_id: 'named-once' }), { status: 401 });
    t.match(await holder.askToken({}), { status: 401, body: { error_description: /client_id/ } });
    t.match(await holder.askToken({ client_id: 'nobody' }), { status: 401, body: { error: 'invalid_client' } });
  });

  t.test('what administration registers is checked, and bounded', async (t) => {
    const { path } = await createApplication('checked', { certificate: pem(selfSigned) });
    const add = (json: object) => admin.post(`${path}/certificates`, { json: { name: 'x', ...json } });
    t.match(await add({ certificate: pem(selfSigned) }), {
      status: 409,
      headers: { 'lapel-error-code': 'APPLICATION_CERTIFICATE_EXISTS' },
      body: { message: /already exists/ },
    });
    for (const [json, field] of [
      [{}, 'certificate'],
      [{ dns: 'a.example', uri: 'spiffe://a' }, 'uri'],
      [{ certificate: 'no certificate' }, 'certificate'],
      [{ certificate: pem(selfSigned) + selfSigned.key.toString() }, 'certificate'],
      [{ dns: '*.example.com' }, 'dns'],
      [{ subject: 'named' }, 'subject'],
    ] as const) {
      t.match(
        await add(json),
        { status: 400, body: { details: [{ loc: ['body', field] }] } },
        Object.keys(json).join(),
      );
    }
    for (let n = 1; n < 8; n += 1) t.equal((await add({ dns: `n${n}.example` })).status, 201);
    t.match(await add({ dns: 'n8.example' }), { status: 409, body: { message: /has 8 certificates/ } });
    t.equal((await admin.get(`${path}/certificates`)).body.certificates.length, 8);
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    t.test(`a resumed session of ${version} has the certificate of the first one, and is judged again`, async (t) => {
      const name = `resumed-${version.slice(-1)}`;
      const { own, path, ids } = await createApplication(name, { certificate: pem(selfSigned) });
      const byName = authority.sign(name, name);
      const second = await admin.post(`${path}/certificates`, { json: { name: 'x', subject: `CN=${name}` } });
      const token = await clientWith(selfSigned).token(name);
      const ofName = await clientWith(byName).token(name);

      async function ask(options: object, bearer: string) {
        const socket: TLSSocket = connect({ port, host: '127.0.0.1', ca, maxVersion: version, ...options });
        let session: Buffer | undefined;
        socket.on('session', (one) => {
          session = one;
        });
        await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
        const isReused = socket.isSessionReused();
        socket.write(
          `GET ${own} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${bearer}\r\nConnection: close\r\n\r\n`,
        );
        let text = '';
        for await (const chunk of socket) text += chunk;
        return { status: Number(text.split(' ')[1]), session, isReused };
      }
      const first = await ask(selfSigned, token);
      t.equal(first.status, 200);
      t.match(await ask({ session: first.session }, token), { status: 200, isReused: true });
      t.match(await ask({ session: first.session }, ofName), { status: 401, isReused: true }, 'another certificate');
      const without = await ask({}, token);
      t.match(without, { status: 401, isReused: false });
      t.match(await ask({ session: without.session }, token), { status: 401, isReused: true }, 'none stays none');
      t.match(await ask({ ...selfSigned, session: without.session }, token), { status: 401, isReused: true });
      const named = await ask(byName, ofName);
      t.match(await ask({ session: named.session }, ofName), { status: 200, isReused: true });

      await admin.delete(`${path}/certificates/${ids[0]}`);
      t.match(await ask({ session: first.session }, token), { status: 401, isReused: true }, 'revoked meanwhile');
      await admin.delete(`${path}/certificates/${second.body.certificateId}`);
      t.match(await ask({ session: named.session }, ofName), { status: 401, isReused: true });
    });
  }

  t.test(
    'a certificate that is on the revocation list, or whose CA is replaced, is refused on open connections',
    async (t) => {
      const { own } = await createApplication('listed', { subject: 'CN=listed' });
      const [first, second] = [authority.sign('listed', 'listed-1'), authority.sign('listed', 'listed-2')];
      const [one, two] = [clientWith(first), clientWith(second)];
      const [tokenOne, tokenTwo] = [await one.token('listed'), await two.token('listed')];
      authority.revoke(first.serialNumber);
      world.service.reloadTls();
      t.match(await one.call(own, { token: tokenOne }), REFUSED);
      t.match(await one.askToken({ client_id: 'listed' }), { status: 401 });
      t.equal((await two.call(own, { token: tokenTwo })).status, 200, 'the other one goes on');
      t.match(await clientWith(first).askToken({ client_id: 'listed' }), { status: 401 }, 'on a new connection, too');

      const kept = readFileSync(authority.ca);
      const other = createAuthority(tls, 'other');
      writeFileSync(authority.ca, readFileSync(other.ca));
      writeFileSync(crl, readFileSync(other.revoke()));
      world.service.reloadTls();
      t.match(await two.call(own, { token: tokenTwo }), REFUSED, 'the CA is not the one of the service any more');
      t.match(await clientWith(second).askToken({ client_id: 'listed' }), { status: 401 });
      writeFileSync(authority.ca, kept);
      authority.revoke();
      world.service.reloadTls();
      t.equal((await two.call(own, { token: tokenTwo })).status, 200);
    },
  );

  t.test('while the revocation list is out of date, no certificate of its CA is good on any connection', async (t) => {
    const { own } = await createApplication('late-list', { subject: 'CN=late-list' });
    const shown = authority.sign('late-list');
    const open = clientWith(shown);
    const token = await open.token('late-list');
    authority.writeList({ begins: -10 * DAY_MS, ends: -DAY_MS });
    world.service.reloadTls();
    t.match(await open.call(own, { token }), REFUSED, 'on the connection that was open before');
    t.match(await clientWith(shown).call(own, { token }), REFUSED, 'on a new one');
    t.match(await clientWith(shown).askToken({ client_id: 'late-list' }), { status: 401 });
    authority.writeList({ begins: -DAY_MS, ends: world.clock.now() / 1000 - Date.now() + 60_000 });
    world.service.reloadTls();
    const next = clientWith(shown);
    t.equal((await next.call(own, { token })).status, 200, 'and with a new list it is good again');
    world.clock.advance(60_000);
    t.match(await next.call(own, { token }), REFUSED, 'until that one ends as well');
    authority.revoke();
    world.service.reloadTls();
    t.equal((await next.call(own, { token })).status, 200);
  });

  t.test('a certificate ends at its time, also the one that was registered itself', async (t) => {
    const short = authority.sign('short', 'short', 1);
    const end = Date.parse(new X509Certificate(short.cert).validTo);
    for (const [application, registered] of [
      ['ends', { certificate: pem(short) }],
      ['ends-by-name', { subject: 'CN=short' }],
    ] as const)
      await createApplication(application, registered);
    const holder = clientWith(short);
    world.clock.advance(end - 1000 - world.clock.now() / 1000);
    const tokens = await Promise.all(['ends', 'ends-by-name'].map((one) => holder.token(one)));
    t.equal((await holder.call('/v1/applications/ends', { token: tokens[0]! })).status, 200);
    t.equal((await holder.call('/v1/applications/ends-by-name', { token: tokens[1]! })).status, 200);
    world.clock.advance(31_000); // the clocks of others may differ by 30 s
    t.match(await holder.call('/v1/applications/ends', { token: tokens[0]! }), REFUSED);
    t.match(await holder.call('/v1/applications/ends-by-name', { token: tokens[1]! }), REFUSED);
    t.match(await holder.askToken({ client_id: 'ends' }), { status: 401 });
    const late = await admin.post('/admin/v1/applications/ends/certificates', {
      json: { name: 'x', certificate: pem(short) },
    });
    t.match(late, { status: 400, body: { details: [{ loc: ['body', 'certificate'], msg: /has not expired/ }] } });
  });
});

t.test('settings that do not go together are refused, and the faulty one is named', (t) => {
  const wrong = (env: Record<string, string>, setting: string) =>
    t.throws(() => readConfig({ env }), { code: 'SETTING_INVALID', message: new RegExp(`^${setting}: `) });
  const [cert, key] = [{ LAPEL_HTTP_TLS_CERT: 'a' }, { LAPEL_HTTP_TLS_KEY: 'b' }];
  wrong({ LAPEL_APPLICATION_SELF_SIGNED: 'true' }, 'LAPEL_APPLICATION_SELF_SIGNED');
  wrong({ LAPEL_APPLICATION_CA: 'c' }, 'LAPEL_APPLICATION_CA');
  wrong({ ...cert, ...key, LAPEL_APPLICATION_CRL: 'c' }, 'LAPEL_APPLICATION_CRL');
  const both = { ...cert, ...key, LAPEL_HTTP_TLS_CLIENT_CA: 'c', LAPEL_APPLICATION_CA: 'd' };
  wrong(both, 'LAPEL_APPLICATION_CA');
  const proxied = { LAPEL_TRUST_PROXY: '10.0.0.1', LAPEL_CLIENT_CERT_HEADER: 'Client-Cert' };
  wrong(proxied, 'LAPEL_CLIENT_CERT_HEADER');
  wrong({ ...both, LAPEL_CLIENT_CERT_HEADER: 'Client-Cert' }, 'LAPEL_CLIENT_CERT_HEADER');
  for (const header of ['Authorization', 'X-Forwarded-For', 'a b'])
    wrong({ ...both, ...proxied, LAPEL_CLIENT_CERT_HEADER: header }, 'LAPEL_CLIENT_CERT_HEADER');
  t.match(readConfig({ env: { ...both, ...proxied } }).entrance.clients, { header: 'client-cert', ca: 'd' });
  t.end();
});

t.test('a certificate that was registered in a way which the service accepts no more is none', async (t) => {
  const thumbprint = 'a'.repeat(43);
  const names = { subject: 'CN=camera', commonName: 'camera', hasDns: () => true, hasUri: () => true };
  const shown = { thumbprint, ...names, validFrom: 0, validTo: 2, isTrusted: true, isSignedBy: () => true };
  const known = { certificateId: '0', name: 'x', expiresAt: null, createdAt: 0 };
  for (const [kind, value, method] of [
    ['certificate', thumbprint, 'self_signed_tls_client_auth'],
    ['dns', 'camera.example', 'tls_client_auth'],
  ] as const) {
    const application = { certificates: [{ ...known, kind, value }] };
    t.ok(acceptsCertificate(application, shown, { now: 1, methods: [method] }));
    t.notOk(acceptsCertificate(application, shown, { now: 1, methods: [] }), kind);
  }
});
