import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createFleet, type Link, startPatrol, startReceiver } from '../fleet.ts';
import { startDatabase } from '../postgres.ts';
import { createService } from '../service.ts';
import type { Stand } from '../stand.ts';
import { repeat } from '../until.ts';

/** Connections with so many messages each that more than a thousand wait together. */
const CROWD = 120;
const MESSAGES = 20;

/** An event that a device has not sent before. */
const event = (): object => ({
  eventId: randomUUID(),
  type: 'custom.note',
  occurredAt: new Date().toISOString(),
  data: {},
});

/** A service on PostgreSQL, which stands still, goes away, or is locked by somebody. */
export async function troubleDatabase({ folder, prometheus, faults }: Stand): Promise<void> {
  await using database = await startDatabase();
  await using service = await createService({
    LAPEL_DATA_DIR: join(folder, 'data'),
    LAPEL_DEVICE_RATE_LIMIT: '0',
    ...database.env,
  });
  const fleet = createFleet(service.addresses);
  using receiver = await startReceiver();
  const { patrol, device } = await startPatrol(fleet, receiver);
  await prometheus.watch('lapel-database', [service.target], '3s'); // without a database, an answer takes two seconds
  const locate = () => patrol.send('PUT', `/devices/${device.deviceId}/settings/lang`, { lang: 'ja' });
  let stop = async (): Promise<void> => undefined;

  await faults.try({
    alerts: ['LapelApiSlow', 'LapelCommitsSlow'],
    fault: 'the database stands still for 1.3 s again and again',
    make: () => {
      const calls = repeat(locate, 50);
      const freezes = database.stutter(1300, 300);
      stop = async () => void (await Promise.all([calls(), freezes()]));
    },
    end: () => stop(),
  });
  await faults.try({
    alerts: ['LapelDatabaseAway', 'LapelApiErrors', 'LapelMessagesWait'],
    fault: 'the database stands still for long, while applications call and devices send their status',
    make: async () => {
      const crowd: Link[] = [];
      while (crowd.length < CROWD) crowd.push(await fleet.connect(await fleet.device('acme')));
      await database.server.freeze(true);
      for (const one of crowd) for (let each = 0; each < MESSAGES; each += 1) one.publish('events', event());
      stop = repeat(() => Promise.all([locate(), locate(), locate(), locate()]), 200);
    },
    end: async () => {
      await stop();
      await database.server.freeze(false);
    },
  });
  let unlock = async (): Promise<void> => undefined;
  await service.end('SIGTERM');
  await service.start(); // its first removal of old rows comes after a minute
  await faults.try({
    alerts: ['LapelRetentionStopped'],
    fault: 'a session that hangs has locked the audit log, so that its old entries cannot be looked for',
    make: async () => {
      unlock = await database.lock('audit_log', 'ACCESS EXCLUSIVE');
    },
    end: async () => {
      await unlock();
      await service.end('SIGTERM');
      await service.start();
    },
  });
  await fleet.developer('leaver');
  await faults.try({
    alerts: ['LapelRemovalStopped'],
    fault: 'a session that hangs has locked the numbers of removals, while a developer is being removed',
    make: async () => {
      unlock = await database.lock('removal_counts', 'ACCESS EXCLUSIVE');
      await fleet.admin('POST', '/developers/leaver/removal', { confirmation: 'leaver' }).catch(() => undefined);
    },
    end: () => unlock(),
  });
}
