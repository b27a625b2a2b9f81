import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readAccounts, registerAccounts, saveAccounts } from '../../../device-sim/customer/accounts.ts';
import { deviceIdFor } from '../../../device-sim/fleet/device-ids.ts';
import { startAdmin } from './admin-stub.ts';

t.test('a second run finds its developer and devices again, and gets new credentials', async (t) => {
  await using admin = await startAdmin('token');
  const register = () =>
    registerAccounts({ adminUrl: admin.url, token: 'token', developerId: 'fleet', seed: 3, count: 40 });
  const first = await register();
  t.strictSame(admin.developers.get('fleet'), { developerId: 'fleet', name: 'Simulated fleet', deviceLimit: 1000 });
  const second = await register();
  t.equal(admin.developers.size, 1);
  t.equal(admin.devices.size, 40);
  t.strictSame(
    first.map(({ deviceId }) => deviceId),
    Array.from({ length: 40 }, (_, index) => deviceIdFor(3, index)),
  );
  for (const [index, { deviceId, credential }] of second.entries()) {
    t.equal(credential, admin.devices.get(deviceId));
    t.not(credential, first[index]?.credential);
  }
  t.ok(admin.mostAtOnce() <= 16);
});

t.test('a wrong administrator token is said in words', async (t) => {
  await using admin = await startAdmin('token');
  await t.rejects(registerAccounts({ adminUrl: admin.url, token: 'x', developerId: 'd', seed: 1, count: 1 }), {
    message: 'the administrator token is not accepted: 401 unauthorized.',
  });
});

t.test('a service that is not there is said in words', async (t) => {
  const admin = await startAdmin('token');
  await admin[Symbol.asyncDispose]();
  await t.rejects(registerAccounts({ adminUrl: admin.url, token: 'x', developerId: 'd', seed: 1, count: 1 }), {
    message: /^cannot reach http:.*ECONNREFUSED/,
  });
});

t.test('saved devices are read again, and only their owner may', (t) => {
  const file = join(t.testdir(), 'devices.ndjson');
  const accounts = [0, 1, 2].map((index) => ({ deviceId: deviceIdFor(1, index), credential: `secret ${index}` }));
  saveAccounts(file, accounts);
  t.strictSame(readAccounts(file), accounts);
  t.strictSame(readAccounts(file, 2), accounts.slice(0, 2));
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.end();
});

for (const [text, fault] of [
  ['', /names no device/],
  ['nonsense\n', /line 1 of/],
  [`{"deviceId":"${deviceIdFor(1, 0)}","credential":"c"}\n{"deviceId":"123","credential":"c"}\n`, /line 2 of/],
] as const) {
  t.test(`a file of devices with ${JSON.stringify(text.slice(-20))} is refused`, (t) => {
    const file = join(t.testdir(), 'devices.ndjson');
    writeFileSync(file, text);
    t.throws(() => readAccounts(file), { option: '--devices', message: fault });
    t.end();
  });
}
