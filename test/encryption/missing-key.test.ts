import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startWorld } from '../world.ts';

t.test('a value whose key this node does not have is answered 503, and the answer names the key', async (t) => {
  const folder = t.testdir({ data: {}, keys: '' });
  const file = join(folder, 'keys');
  writeFileSync(file, `first ${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const world = await startWorld(t, { dataDir: join(folder, 'data'), env: { LAPEL_ENCRYPTION_KEY_FILE: file } });
  const tenant = await world.createTenant();
  const raw = await world.raw();
  // As another node does that has a newer key already.
  await raw.exec("UPDATE applications SET device_event = REPLACE(device_event, ':first:', ':second:')");
  await world.restart();
  await tenant.renew();
  t.match(await tenant.api.get(tenant.path), {
    status: 503,
    headers: { 'lapel-error-code': 'ENCRYPTION_KEY_MISSING', 'retry-after': '10' },
    body: { message: 'a stored value needs the encryption key second, which this node does not have.' },
  });
});
