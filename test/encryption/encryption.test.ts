import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { createDatabase, type DatabaseKind, NO_POSTGRES } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { createTestReceiver, type TestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld, type World } from '../world.ts';
import { columnsWith, forgeTokens } from './stored.ts';

const HOOK = 'token-of-the-hook';
const PASSWORD = 'a password of Wi-Fi';
const ROLLED = 'a password of a rollout';
const TAKEN = 'a password that a device has taken';
const UPLOAD = 'signature-of-an-upload';
const wifi = (password: string) => [{ ssid: 'office', password, security: 'WPA2' }];
const keyLine = (id: string): string => `${id} ${randomBytes(32).toString('base64')}`;

/**
 * An application with every secret that the database has to give back: settings, keys, waiting commands, answers. The
 * receiver lives longer than the world.
 */
async function createSecrets(t: Test, world: World, receiver: TestReceiver) {
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const uploads = await createTestReceiver(t);
  uploads.answer({
    status: 200,
    body: Buffer.from(
      JSON.stringify({
        uploadUrl: `https://uploads.example/?X-Signature=${UPLOAD}`,
        expiresAt: '2030-01-01T00:00:00.000000Z',
      }),
    ),
  });
  const former = tenant.authenticationKey;
  tenant.authenticationKey = (await api.post(`${path}/refresh_authkey`)).body.authenticationKey;
  const device = await world.activatedDevice(tenant);
  const take = async (): Promise<void> => {
    const { transactionId, packet } = await device.link.command();
    device.link.puback(packet);
    await device.link.ack({ transactionId, status: 'succeeded' });
    await world.idle();
  };
  await api.put(`${device.path}/settings/wifi`, { json: wifi(TAKEN) });
  await take();
  await api.post(`${path}/rollouts`, { json: { operation: 'setWifi', parameters: wifi(TAKEN), devices: {} } });
  await take();
  const settings = { deviceEvent: `${receiver.url}/${HOOK}`, fileUploadGetUrl: `${uploads.url}/${HOOK}` };
  await api.patch(path, { json: { fileUploadEvent: 'https://example.com/uploads' } });
  await api.patch(path, { json: settings });
  await api.post(`${path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
  await receiver.next();
  // It gets test events only.
  const made = await api.post(`${path}/endpoints`, { json: { url: settings.deviceEvent, types: ['none'] } });
  const { endpointId } = made.body;
  const { secret } = (await api.post(`${path}/endpoints/${endpointId}/secret`, { json: {} })).body;
  const file = { fileId: 'f1', name: 'a.txt', size: 1, contentType: 'text/plain' };
  device.link.publish('requests', { requestId: 'r1', type: 'fileUploadUrl', data: file });
  await device.link.next('puback');
  const answer = await device.link.next('publish');
  t.match(JSON.parse(String(answer.payload)), { requestId: 'r1', data: {} }, String(answer.payload));
  await device.link.drop();
  await api.put(`${device.path}/settings/wifi`, { json: wifi(PASSWORD) });
  const startAt = '2030-01-01T00:00:00Z';
  const rollout = { operation: 'setWifi', parameters: wifi(ROLLED), devices: {}, startAt };
  t.match(await api.post(`${path}/rollouts`, { json: rollout }), { status: 201 });
  await world.idle();
  const keys = [former, tenant.authenticationKey, made.body.secret, secret].map((key) => key.slice('whsec_'.length));
  return {
    ...tenant,
    receiver,
    device,
    endpoint: { endpointId, secret },
    texts: [HOOK, PASSWORD, ROLLED, TAKEN, UPLOAD, ...keys],
  };
}

type Secrets = Awaited<ReturnType<typeof createSecrets>>;

/** Entries of the audit log are never changed; those from before a key keep their URLs until they are removed. */
const AUDIT = 'audit_log.details';

/** The columns with secrets of `createSecrets`, as they are without a key. */
const PLAIN = [
  'applications.authentication_key',
  'applications.device_event',
  'applications.file_upload_get_url',
  'applications.former_authentication_key',
  AUDIT,
  'deliveries.url',
  'device_requests.answer',
  'device_settings.parameters',
  'endpoints.former_secret',
  'endpoints.secret',
  'endpoints.url',
  'rollout_values.parameters',
  'rollouts.asked',
  'transactions.parameters',
];

/** The device gets its command with the password, the application its settings, the receiver its webhook. */
async function works(t: Test, world: World, { tenant, password }: { tenant: Secrets; password: string }) {
  const api = await world.clientOf(tenant.applicationId, tenant.secret);
  t.match((await api.get(tenant.path)).body, { deviceEvent: `${tenant.receiver.url}/${HOOK}` });
  const link = await world.connect(tenant.device);
  let command = await link.command();
  while (command.operation !== 'setWifi') command = await link.command();
  t.match(command.parameters, { networks: [{ password }] });
  link.puback(command.packet);
  await link.ack({ transactionId: command.transactionId, status: 'succeeded' });
  t.match(JSON.parse(String((await tenant.receiver.next()).body)), { type: 'transaction.succeeded' });
  await world.idle();
  const deliveries = (await api.get(`${tenant.path}/webhooks/deliveries`)).body.deliveries;
  t.ok(deliveries.some(({ url }: { url: string }) => url === `${tenant.receiver.url}/${HOOK}`));
  await link.drop();

  const { endpointId, secret } = tenant.endpoint;
  const endpoint = `${tenant.path}/endpoints/${endpointId}`;
  t.match((await api.get(endpoint)).body, { url: `${tenant.receiver.url}/${HOOK}` });
  t.match(await api.post(`${endpoint}/test`), { status: 202 });
  const { body, headers } = await tenant.receiver.next();
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${String(body)}`;
  const own = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64')).update(content);
  t.ok(
    String(headers['webhook-signature'])
      .split(' ')
      .includes(`v1,${own.digest('base64')}`),
    'its secret signs',
  );
}

const rotationOf = async (world: World) => (await world.admin().get('/admin/v1/encryption')).body;

/** Lets the time pass until the rotation is in a state. */
async function reaches(world: World, state: string): Promise<void> {
  await until(async () => {
    world.clock.advance(20_000); // after a failure it tries again some minutes later
    return (await rotationOf(world)).rotation?.state === state;
  });
}

for (const kind of ['sqlite', 'postgres'] as const satisfies DatabaseKind[])
  t.test(`secrets at rest on ${kind}`, { skip: kind === 'postgres' && NO_POSTGRES }, async (t) => {
    const dataDir = t.testdir();
    const url = kind === 'postgres' ? { LAPEL_DATABASE_URL: await createDatabase(t) } : {};
    const file = join(dataDir, 'keys');
    const first = keyLine('first');
    const second = keyLine('second');
    const start = (t: Test, env: Record<string, string>) =>
      startWorld(t, { dataDir, database: kind, env: { ...url, ...env } });
    const withFile = { LAPEL_ENCRYPTION_KEY_FILE: file };
    const receiver = await createTestReceiver(t);
    let tenant: Secrets;

    await t.test('without a key a thief of the database has them all', async (t) => {
      const world = await start(t, {});
      tenant = await createSecrets(t, world, receiver);
      const raw = await world.raw();
      t.same(await columnsWith(world, raw, tenant.texts), PLAIN);
      const [token = ''] = await forgeTokens(world, raw, tenant.applicationId);
      t.match(await world.anonymous().get(tenant.path, { token }), { status: 200 });
      t.same(await rotationOf(world), { keys: [], rotation: null });
      t.match(await world.admin().post('/admin/v1/encryption/rotation'), {
        status: 409,
        body: { message: 'the encryption keys cannot be used: LAPEL_ENCRYPTION_KEY_FILE is not set.' },
      });
    });

    await t.test('with a key new values are encrypted, and those from before are read', async (t) => {
      writeFileSync(file, `# the keys of the tests\n${first}\n`);
      const world = await start(t, withFile);
      t.same((await rotationOf(world)).keys, [{ keyId: 'first', state: 'current' }]);
      await works(t, world, { tenant, password: PASSWORD });
      const api = await world.clientOf(tenant.applicationId, tenant.secret);
      await api.put(`${tenant.device.path}/settings/wifi`, { json: wifi('another password') });
      const raw = await world.raw();
      t.same(await columnsWith(world, raw, ['another password']), []);
      t.ok((await columnsWith(world, raw, tenant.texts)).length > 0);
    });

    await t.test('a rotation encrypts all values, goes on after a failure and a restart, and then ends', async (t) => {
      const world = await start(t, withFile);
      const raw = await world.raw();
      const undo = await raw.breakWrites('UPDATE ON rollouts');
      t.match(await world.admin().post('/admin/v1/encryption/rotation'), { status: 202 });
      await reaches(world, 'running');
      const placeOf = async () =>
        (await raw.all<{ place: string | null }>('SELECT place FROM encryption_rotation'))[0]?.place ?? '';
      await until(async () => (await placeOf()).includes('applications'));
      await world.restart(undo);
      await reaches(world, 'ended');
      const { rotation } = await rotationOf(world);
      t.match(rotation, { keyId: 'first', waitsFor: [] });
      t.ok(rotation.rewritten > 5);
      t.same(await columnsWith(world, raw, [...tenant.texts, 'another password']), [AUDIT]);
      t.same(await columnsWith(world, raw, tenant.texts.slice(1)), []);
      t.same(await forgeTokens(world, raw, tenant.applicationId), []);
      await works(t, world, { tenant, password: 'another password' });
    });

    await t.test('a value that is copied to another row, or another column, is refused', async (t) => {
      const world = await start(t, withFile);
      const raw = await world.raw();
      const api = await world.clientOf(tenant.applicationId, tenant.secret);
      await api.patch(tenant.path, { json: { callEvent: 'https://example.com/calls' } });
      const [kept] = await raw.all<{ url: string }>('SELECT call_event AS url FROM applications');
      await raw.exec('UPDATE applications SET call_event = device_event');
      await world.restart();
      const again = await world.clientOf(tenant.applicationId, tenant.secret);
      t.match(await again.get(tenant.path), { status: 500 });
      const other = keyLine('other');
      writeFileSync(file, `${other}\n${first}\n`);
      await world.admin().post('/admin/v1/encryption/rotation');
      const ofUrl = async () =>
        (await raw.all<{ url: string }>('SELECT device_event AS url FROM applications'))[0]?.url;
      await until(async () => (await ofUrl())?.startsWith('enc:v1:other:') === true);
      await world.idle();
      t.not(
        (await rotationOf(world)).rotation?.state,
        'ended',
        'it holds up the end of a rotation, and no other value',
      );
      await raw.all('UPDATE applications SET call_event = ?', kept?.url ?? '');
      world.clock.advance(600_000);
      await reaches(world, 'ended');
      writeFileSync(file, `${first}\n${other}\n`);
      await world.admin().post('/admin/v1/encryption/rotation');
      await reaches(world, 'ended');
      writeFileSync(file, `${first}\n`);
    });

    await t.test('a new key takes over without a restart; a wrong file changes nothing', async (t) => {
      const world = await start(t, withFile);
      const admin = world.admin();
      const raw = await world.raw();
      const rotate = () => admin.post('/admin/v1/encryption/rotation');
      for (const [content, problem] of [
        [`${second}\n`, 'the key first is missing: secrets of this database are encrypted with it'],
        [`${second}\n${keyLine('first')}\n`, 'the key first is another one'],
        ['second short\n', 'line 1: the key second is not 32 bytes in base64'],
        ['', 'there is no key'],
      ] as const) {
        writeFileSync(file, content);
        const { status, body } = await rotate();
        t.equal(status, 409);
        t.ok(String(body.message).includes(problem), body.message);
      }
      writeFileSync(file, `${second}\n${first}\n`);
      t.match((await rotate()).body.rotation, { keyId: 'second' });
      await reaches(world, 'ended');
      t.same((await rotationOf(world)).keys, [
        { keyId: 'second', state: 'current' },
        { keyId: 'first', state: 'unused' },
      ]);
      t.same(await columnsWith(world, raw, ['enc:v1:first:']), []);
      t.match(await columnsWith(world, raw, ['enc:v1:second:']), ['applications.authentication_key']);
    });

    await t.test('the service does not start without the key, and names it', async (t) => {
      const message = /the key second is missing: secrets of this database are encrypted with it/;
      writeFileSync(file, `${first}\n`);
      await t.rejects(start(t, withFile), { code: 'SETTING_INVALID', message });
      await t.rejects(start(t, {}), { code: 'SETTING_INVALID', message });
      writeFileSync(file, `${second}\n`);
      const command = { LAPEL_ENCRYPTION_KEY_COMMAND: `cat '${file}'` };
      const world = await start(t, command);
      t.match((await rotationOf(world)).keys, [{ keyId: 'second', state: 'current' }]);
      await t.rejects(start(t, { LAPEL_ENCRYPTION_KEY_COMMAND: 'echo a-secret-line; exit 3' }), {
        message: 'LAPEL_ENCRYPTION_KEY_COMMAND: the command ended with exit code 3',
      });
    });
  });

t.test('a database that was encrypted from its first start has no secret in its files', async (t) => {
  const dataDir = t.testdir();
  const keys = join(dataDir, 'keys');
  writeFileSync(keys, `${keyLine('only')}\n`);
  const world = await startWorld(t, { dataDir, database: 'sqlite', env: { LAPEL_ENCRYPTION_KEY_FILE: keys } });
  const tenant = await createSecrets(t, world, await createTestReceiver(t));
  const files = ['lapel.db', 'lapel.db-wal'].map((name) => readFileSync(join(dataDir, name)));
  for (const text of tenant.texts)
    t.notOk(
      files.some((bytes) => bytes.includes(text)),
      text,
    );
  t.same(await forgeTokens(world, await world.raw(), tenant.applicationId), []);
});
