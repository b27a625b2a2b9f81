import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { makeAuthority } from '@lapel/schemas/base/certificates';
import t from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { runMain } from '../flow/service-process.ts';
import { createPerson, signIn } from '../people/people-world.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld } from '../world.ts';
import { columnsWith } from './stored.ts';

t.test('nothing of any secret is in the database, in a backup, or in the log', async (t) => {
  const folder = t.testdir({ data: {} });
  const dataDir = join(folder, 'data');
  const [keys, token] = [join(folder, 'keys'), join(folder, 'token')];
  const adminToken = randomBytes(32).toString('hex');
  const key = randomBytes(32).toString('base64');
  writeFileSync(keys, `only ${key}\n`, { mode: 0o600 });
  writeFileSync(token, `${adminToken}\n`, { mode: 0o600 });
  const logged: string[] = [];
  const destination = new Writable({
    write(line, _, done) {
      logged.push(String(line));
      done();
    },
  });
  const env = { LAPEL_ENCRYPTION_KEY_FILE: keys, LAPEL_ADMIN_TOKEN_FILE: token };
  const log = createLog({ level: 'trace', destination });
  const world = await startWorld(t, { dataDir, database: 'sqlite', env, log });
  const base = world.service.addresses.admin;
  const admin = world.admin();
  const tenant = await world.createTenant();
  const { api, path, applicationId } = tenant;
  const failing = await createTestReceiver(t);
  failing.answer({ status: 500 });

  /** The text of each secret that is in use. */
  const secrets: Record<string, string> = { adminToken, key };
  secrets['authenticationKey'] = tenant.authenticationKey.slice('whsec_'.length);
  secrets['secret of the application'] = tenant.secret;
  secrets['access token'] = await world.tokenOf(applicationId, tenant.secret);
  secrets['another secret'] = (await admin.post(`/admin/v1/applications/${applicationId}/secrets`)).body.secret;
  const device = await world.activatedDevice(tenant);
  secrets['credential'] = device.credential;
  const credential = `/admin/v1/devices/${device.deviceId}/credential`;
  secrets['offered credential'] = (await admin.post(credential, { json: { keepsFormer: true } })).body.credential;
  secrets['webhook URL'] = randomBytes(16).toString('hex');
  await api.patch(path, { json: { callEvent: `${failing.url}/${secrets['webhook URL']}` } });
  await api.post(`${path}/webhooks/test`, { json: { setting: 'callEvent' } });
  await failing.next();
  await device.link.drop();
  secrets['password of Wi-Fi'] = randomBytes(16).toString('hex');
  const wifi = [{ ssid: 'office', password: secrets['password of Wi-Fi'], security: 'WPA2' }];
  secrets['Idempotency-Key'] = randomBytes(16).toString('hex');
  const headers = { 'idempotency-key': secrets['Idempotency-Key'] };
  t.match(await api.put(`${device.path}/settings/wifi`, { json: wifi, headers }), { status: 201 });
  const json = { name: 'a batch', expiresAt: '2027-01-01T00:00:00Z', mostDevices: 10 };
  secrets['code'] = (await admin.post('/admin/v1/developers/dev/enrolment-batches', { json })).body.code;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [from, random] = [world.clock.now() - 1_000_000, randomBytes(16)];
  const ca = await makeAuthority({ name: 'maker', publicKey, from, until: from + 86_400_000_000, random }, privateKey);
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const given = { name: 'a CA', certificate: ca.toString(), privateKey: pem };
  t.match(await admin.post('/admin/v1/developers/dev/device-authorities', { json: given }), { status: 201 });
  secrets['private key of a device CA'] = pem.split('\n')[2] ?? '';
  secrets['nonce'] = randomBytes(32).toString('hex');
  const enrolment = { deviceId: '490154203237518', code: secrets['code'], nonce: secrets['nonce'] };
  const enrolled = await world.anonymous().post('/v1/enrolments', { json: enrolment });
  secrets['credential of an enrolment'] = enrolled.body.credential;
  secrets['token of a person'] = (await createPerson(world, { personId: 'eve', role: 'operator' })).token;
  const member = { name: 'Eve', role: 'admin' };
  const made = await admin.post('/admin/v1/developers/dev/members', { json: member });
  secrets['token of a person of a developer'] = made.body.token;
  const cookie = await signIn(t, base, secrets['token of a person']);
  secrets['session'] = /=([^;]+)/.exec(cookie)?.[1] ?? '';
  for (const [name, text] of Object.entries(secrets)) t.ok(text?.length >= 16, `${name} is known`);
  await world.idle();

  t.same(await columnsWith(world, await world.raw(), Object.values(secrets)), [], 'the database');

  const backup = join(folder, 'backup');
  t.match(await runMain(t, ['backup', backup, '--data-dir', dataDir], {}), { code: 0 });
  const files = readdirSync(backup, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  t.ok(files.some((name) => name.endsWith('lapel.db')) && files.some((name) => name.endsWith('object-store-key')));
  for (const file of [
    ...files,
    ...['lapel.db', 'lapel.db-wal', 'object-store-key'].map((name) => join(dataDir, name)),
  ]) {
    const bytes = readFileSync(file);
    for (const [name, text] of Object.entries(secrets)) t.notOk(bytes.includes(text), `${name} in ${file}`);
  }
  t.match(readFileSync(join(backup, 'object-store-key'), 'utf8'), /^enc:v1:only:/);

  t.ok(logged.length > 10, 'the log has what happened');
  const text = logged.join('');
  for (const [name, secret] of Object.entries(secrets)) t.notOk(text.includes(secret), `${name} in the log`);
});
