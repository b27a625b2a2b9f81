import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAccounts, saveAccounts } from '@lapel/device-sim/customer/accounts';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import t from 'tap';

t.test('saved devices can be read again, by their owner only', (t) => {
  const file = join(t.testdir(), 'devices.ndjson');
  const accounts = [0, 1, 2].map((index) => ({ deviceId: deviceIdFor(1, index), credential: `secret ${index}` }));
  saveAccounts(file, accounts);
  t.strictSame(readAccounts(file), accounts);
  t.strictSame(readAccounts(file, 2), accounts.slice(0, 2));
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.end();
});

for (const [text, fault] of [
  ['', /contains no devices/],
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
