import { Writable } from 'node:stream';
import t from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

/** The lines that each node logs once, at its start. */
const AT_START = [
  'this node took partitions of webhook receivers',
  'no encryption key is set, so secrets are stored as they are (LAPEL_ENCRYPTION_KEY_FILE)',
];

/** A log at its lowest level, with its lines. */
function listen(level = 'trace') {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  return {
    log: createLog({ level, destination }),
    text: () => text,
    lines: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => !AT_START.includes(String(msg))),
  };
}

t.test('the log never contains a secret, even at the level trace', async (t) => {
  const { log, text, lines } = listen();
  const world = await startWorld(t, { log });
  const tenant = await world.createTenant();
  const { applicationId, secret } = tenant;
  const token = await world.tokenOf(applicationId, secret);
  const marked = 'wi-fi-password-mark';
  const hookToken = 'receiver-token-mark';
  const wifi = [{ ...WIFI[0], password: marked }];
  await tenant.api.patch(tenant.path, { json: { deviceEvent: `${tenant.receiver.url}?token=${hookToken}` } });
  const device = await world.activatedDevice(tenant);
  const replaced = (await world.admin().post(`/admin/v1/applications/${applicationId}/secret`)).body.secret;
  const api = await world.clientOf(applicationId, replaced);
  const key = (await api.post(`${tenant.path}/refresh_authkey`)).body.authenticationKey;
  const basic = Buffer.from(`${applicationId}:${replaced}`).toString('base64');

  // Successful work: with processing, repetition, cancel, a failed webhook.
  const put = () => api.put(`${device.path}/settings/wifi`, { json: wifi });
  const first = transactionIdOf(await put());
  await device.link.command();
  await device.link.ack({ transactionId: first, status: 'succeeded', result: { password: marked } });
  tenant.receiver.answer({ status: 410, body: hookToken });
  const second = transactionIdOf(await put());
  await device.link.command();
  await api.delete(`${device.path}/transactions/${second}`);
  // Failures on every listener, with secrets in all places.
  await api.put(`${device.path}/settings/wifi`, { text: `[{"ssid":"x","password":"${marked}",` });
  await api.put(`${device.path}/settings/wifi`, { json: [{ ...wifi[0], security: marked }] });
  await api.get(`/nowhere/${token}?secret=${replaced}`);
  await world.anonymous().get(tenant.path, { token: `${token}x` });
  const form = { grant_type: 'client_credentials', scope: marked, client_secret: replaced };
  await world.anonymous().post('/api/v1/authenticate', { headers: { authorization: `Basic ${basic}` }, form });
  await world
    .admin()
    .post(`/admin/v1/developers/dev/devices`, { json: { deviceId: 'x', credential: device.credential } });
  await world.anonymousAdmin().get('/admin/v1/developers', { token: `${world.service.adminToken}x` });
  device.link.publish('acks', `{"transactionId":1,"status":"succeeded","result":{"password":"${marked}"`);
  device.link.publish('status', { battery: marked });
  await device.link.next('puback');
  await device.link.next('puback');
  await (await world.open({ ...device, credential: `${device.credential}x` })).login();
  const trespasser = await world.connect(device);
  trespasser.publish('devices/x/acks', marked);
  await trespasser.next('puback');
  // Failures inside the service.
  const database = await world.raw();
  await database.exec('ALTER TABLE transactions RENAME TO away');
  t.equal((await put()).status, 500);
  const link = await world.connect(device);
  link.publish('acks', { transactionId: second, status: 'failed', error: { code: 'INTERNAL', message: marked } });
  await link.closed;
  await database.exec('ALTER TABLE away RENAME TO transactions');
  await world.idle();

  t.ok(lines().length > 30, 'there is a log to look at');
  t.ok(
    lines().some(({ level }) => level === 50),
    'with errors on it',
  );
  for (const [name, word] of Object.entries({
    'application secret': secret,
    'replaced secret': replaced,
    'Basic header': basic,
    credential: device.credential,
    'access token': token,
    'signature of the token': token.split('.')[2] ?? '',
    'administrator token': world.service.adminToken,
    authenticationKey: tenant.authenticationKey,
    'new authenticationKey': key,
    'bytes of the key': key.slice('whsec_'.length),
    'Wi-Fi password': marked,
    'token in a webhook URL': hookToken,
  })) {
    t.ok(word.length > 8, name);
    t.notOk(text().includes(word), `no ${name}`);
  }
});

t.test('every request has one log line with its id and its route, never its path; a refused one at info', async (t) => {
  const { log, lines } = listen('debug');
  const world = await startWorld(t, { log });
  const tenant = await world.createTenant();
  for (const [index, [method, target, status, route]] of (
    [
      ['GET', tenant.path, 200, '/v1/applications/{applicationId}'],
      ['GET', `${tenant.path}/devices/x`, 404, '/v1/applications/{applicationId}/devices/{deviceId}'],
      ['PATCH', tenant.path, 400, '/v1/applications/{applicationId}'],
      ['GET', '/nowhere', 403, 'unknown'],
    ] as const
  ).entries()) {
    const id = `request-${index}`;
    await tenant.api.request(method, target, { headers: { 'x-request-id': id } });
    const own = lines().filter(({ requestId }) => requestId === id);
    t.equal(own.length, 1);
    const expected = { level: status < 400 ? 20 : 30, msg: status < 400 ? 'request' : 'request refused' };
    t.match(own[0], { ...expected, listener: 'api', method, route, status });
  }
  const made = await tenant.api.get(tenant.path);
  t.ok(
    lines().some(({ requestId }) => requestId === made.headers['x-request-id']),
    'also an id that was made here',
  );
  await world.admin().get('/admin/v1/developers', { headers: { 'x-request-id': 'admin-1' } });
  t.match(
    lines().find(({ requestId }) => requestId === 'admin-1'),
    { listener: 'admin' },
  );
});

t.test(
  'at the level info a refusal names caller, route and reason, and once a minute the number of others',
  async (t) => {
    const { log, lines } = listen('info');
    const world = await startWorld(t, { log });
    const tenant = await world.createTenant();
    const { deviceId } = await world.registerDevice();
    const route = '/v1/applications/{applicationId}/devices/{deviceId}/status';
    const refused = () => tenant.api.get(`${tenant.path}/devices/${deviceId}/status`);
    for (let count = 0; count < 5; count += 1) await refused();
    await tenant.api.get(`${tenant.path}/devices/x/status`); // another error is logged at once
    await world.anonymous().get(tenant.path);
    await world.anonymousAdmin().get('/admin/v1/developers', { token: 'wrong' });
    world.clock.advance(60_000);
    const last = await refused();
    const api = { level: 30, listener: 'api', method: 'GET', msg: 'request refused' };
    const own = { ...api, route, applicationId: tenant.applicationId };
    t.match(lines(), [
      { ...own, status: 403, code: 'DEVICE_NOT_ACTIVATED', leftOut: undefined },
      { ...own, status: 404, code: 'PATH_PARAMETER_INVALID' },
      { ...api, status: 401, code: 'TOKEN_MISSING', address: '127.0.0.1' },
      { ...api, listener: 'admin', status: 401, code: 'ADMIN_TOKEN_INVALID', address: '127.0.0.1' },
      { ...own, code: 'DEVICE_NOT_ACTIVATED', leftOut: 4, requestId: last.headers['x-request-id'] },
    ]);
    t.equal(lines().length, 5);
  },
);

t.test('at the level info an ordinary day is silent', async (t) => {
  const { log, lines } = listen('info');
  const world = await startWorld(t, { log });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await tenant.api.get(tenant.path);
  await device.link.drop();
  await world.idle();
  t.same(lines(), []);
});

t.test('a value with a secret name is redacted in the log', async (t) => {
  const { log, lines } = listen();
  const names = [
    'password',
    'psk',
    'simPin',
    'apiKey',
    'Cookie',
    'authenticationKey',
    'authorization',
    'token',
    'parameters',
  ];
  const secrets = Object.fromEntries(names.map((name) => [name, 'open']));
  const text = 'said {"password":"open","n":1} to https://a.example/b?sign=open';
  const err = Object.assign(new Error('no luck with psk=open'), { detail: { credential: 'open' } });
  log.info({ ...secrets, inside: secrets, deeper: [{ inside: { secrets } }], text, err, name: 'kept' }, 'line');
  const redacted = Object.fromEntries(names.map((name) => [name, '••••']));
  const [line] = lines();
  t.match(line, { ...redacted, inside: redacted, name: 'kept', msg: 'line' });
  t.equal(line?.['text'], 'said {"password":"••••","n":1} to https://a.example/b?••••');
  t.notMatch(JSON.stringify(line), /open/);
});
