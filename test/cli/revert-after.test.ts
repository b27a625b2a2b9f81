import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

t.test('a device can try a list of networks for a time, and only such a list', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link } = await world.activatedDevice(tenant);
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const lapel = (line: string) => run(line.split(' '), { env });
  const file = join(world.dataDir, 'tried.json');
  writeFileSync(file, '[{"ssid":"a","security":"OPEN"}]');
  for (const [line, revertAfter] of [
    [`device wifi ${deviceId} --file ${file} --revert-after 5m --wait`, 300],
    [`device apn ${deviceId} --name a --apn b --revert-after 30 --wait`, 30],
  ] as const) {
    const ended = lapel(line);
    const { transactionId, parameters, packet } = await link.command();
    t.match(parameters, { revertAfter });
    link.puback(packet);
    await link.ack({ transactionId, status: 'failed', error: { code: 'REVERTED', message: 'not reached' } });
    t.match(await ended, { code: 1, stderr: /REVERTED/ });
    t.equal((await tenant.event()).type, 'transaction.failed');
  }
  t.match(await lapel(`device wifi ${deviceId} --none --revert-after 5s --no-wait`), {
    code: 1,
    stderr: /revertAfter/,
  });
  t.equal((await lapel(`device language ${deviceId} ja --revert-after 5m`)).code, 2);
});
