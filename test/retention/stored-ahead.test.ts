import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld, WIFI, type World } from '../world.ts';

const HOUR = 3_600_000;

for (const database of ['sqlite', ...(NO_POSTGRES ? [] : (['postgres'] as const))] as const)
  t.test(`what was never sent while the clock was an hour ahead is sent at the next start: ${database}`, async (t) => {
    const world = await startWorld(t, { database });
    const { clock, dataDir, databaseUrl } = world;
    const env = databaseUrl === null ? {} : { LAPEL_DATABASE_URL: databaseUrl };
    const tenant = await world.createTenant();
    const receiver = await createTestReceiver(t);
    const json = { url: receiver.url, ordered: 'device', types: ['transaction.*'] };
    t.equal((await tenant.api.post(`${tenant.path}/endpoints`, { json })).status, 201);
    const device = await world.activatedDevice(tenant);
    const sent = (): number[] => [receiver.requests.length, tenant.receiver.requests.length];
    const until = async (wanted: number): Promise<void> => {
      for (let looks = 0; looks < 20 && sent().some((count) => count < wanted); looks += 1) {
        clock.advance(500);
        await serving.idle();
      }
      t.same(sent(), [wanted, wanted]);
    };
    let serving: Pick<World, 'idle' | 'service'> = world;
    await until(1);
    await world.service[Symbol.asyncDispose]();

    clock.leap(HOUR);
    const held = await startWorld(t, { dataDir, database, clock, env: { ...env, LAPEL_WEBHOOKS_HELD: 'true' } });
    serving = held;
    const api = await held.clientOf(tenant.applicationId, tenant.secret);
    const link = await held.connect(device);
    for (let made = 0; made < 3; made += 1) {
      t.equal((await api.put(`${device.path}/settings/wifi`, { json: WIFI })).status, 201);
      const { transactionId } = await link.command();
      await link.ack({ transactionId, status: 'succeeded' });
    }
    await held.idle();
    await until(1);
    await held.service[Symbol.asyncDispose]();
    rmSync(join(dataDir, 'seen-time'), { force: true }); // a kill would not have written it

    clock.set(-HOUR);
    serving = await startWorld(t, { dataDir, database, clock, env });
    await until(4);
  });
