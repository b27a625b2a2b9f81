import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeAuthority } from '@lapel/schemas/base/certificates';
import t from 'tap';
import { keyLine } from '../enrolment/device-keys.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { run } from './run.ts';

const NONCE = 'a secret that the device keeps';

t.test('devices enrol from the command line', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const { addresses, adminToken } = world.service;
  const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
  const enrolment = (line: string, input = '') => run(['admin', 'enrolment', ...line.split(' ')], { env, input });
  const create = 'create --developer dev --name field --most-devices 5 --expires-at 2026-12-20T09:30:00Z';
  const ask = (deviceId: string, code: string) =>
    world.anonymous().post('/v1/enrolments', { json: { deviceId, code, nonce: NONCE } });

  const made = await enrolment(`${create} --approval manual --registered --device-ids - --json`, '["35"]');
  t.equal(made.code, 0, made.stderr);
  const { batchId, code, ...batch } = JSON.parse(made.stdout);
  t.match(batch, { approval: 'manual', registered: true, deviceIds: ['35'], mostDevices: 5 });
  const [first, second] = [deviceIdOf(1), deviceIdOf(2)];
  for (const deviceId of [first, second]) t.equal((await ask(deviceId, code)).status, 202);
  t.match((await enrolment('list --developer dev')).stdout, /open +manual +0 +5 +2 .*field/);
  t.match((await enrolment(`devices ${batchId} --state pending`)).stdout, new RegExp(`${second} +pending +127.0.0.1`));
  t.match(await enrolment(`approve ${batchId} ${first}`), { code: 0, stdout: /approved/ });
  t.match(await enrolment(`refuse ${batchId} ${second}`), { code: 0, stdout: /refused/ });
  t.equal((await ask(first, code)).status, 201);
  t.equal((await ask(second, code)).status, 403);
  t.match(await enrolment(`approve ${batchId} ${second}`), { code: 1, stderr: /409 the enrolment is refused/ });
  t.match(await enrolment(`revoke ${batchId}`), { code: 0, stdout: /revoked/ });
  t.match((await enrolment(`show ${batchId}`)).stdout, /enrolled +1/i);

  const shown = await enrolment(create);
  t.match(shown.stdout + shown.stderr, /A code is shown only now, and never again\./);
  t.match(await enrolment(`${create} --approval perhaps`), { code: 2, stderr: /--approval/ });
});

t.test('device CAs are made, given, retired and revoked from the command line', async (t) => {
  const folder = t.testdir({ data: {}, keys: keyLine('first') });
  const file = (name: string): string => join(folder, name);
  const env = { LAPEL_ENCRYPTION_KEY_FILE: file('keys') };
  const world = await startWorld(t, { dataDir: file('data'), env });
  await world.createTenant();
  const { addresses, adminToken } = world.service;
  const admin = (line: string, input = '') =>
    run(['admin', ...line.split(' ')], {
      env: { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin },
      input,
    });
  const made = await admin('device-ca create --developer dev --name 2026 --json');
  t.equal(made.code, 0, made.stderr);
  const { authorityId, certificate } = JSON.parse(made.stdout);
  t.match(new X509Certificate(certificate), { ca: true, subject: 'CN=Devices of dev' });

  world.clock.advance(1);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const from = world.clock.now();
  const wanted = { name: 'maker', publicKey, from, until: from + 86_400_000_000, random: randomBytes(16) };
  writeFileSync(file('ca.pem'), (await makeAuthority(wanted, privateKey)).toString());
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const given = `device-ca import --developer dev --name maker --certificate ${file('ca.pem')} --private-key -`;
  t.match(await admin(given, key), { code: 0 });
  t.match(await admin(given, 'no key'), { code: 1, stderr: /privateKey/ });
  t.match((await admin('device-ca list --developer dev')).stdout, /active +0 .*maker\n.*active +0 .*2026/);
  t.match(await admin(`device-ca retire ${authorityId}`), { code: 0, stdout: /retired/ });
  t.match(await admin(`device-ca revoke ${authorityId}`), { code: 0, stdout: /revoked/ });
  const { stdout } = await admin(`device-ca show ${authorityId}`);
  t.match(stdout, /state +revoked/i);
  const [pem = ''] = /-----BEGIN CERTIFICATE-----\n.*-----END CERTIFICATE-----\n/s.exec(stdout) ?? [];
  t.ok(new X509Certificate(pem).ca, 'the certificate can be copied');
  const batch = 'enrolment create --developer dev --name line --most-devices 5 --expires-at 2026-12-20T09:30:00Z';
  t.match(await admin(`${batch} --device-ca ${authorityId} --certificate-days 30`), {
    code: 1,
    stderr: /LAPEL_DEVICE_CERTIFICATES/,
  });
});
