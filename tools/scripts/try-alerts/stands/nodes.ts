import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startObjectStore } from '../../../harness/object-store.ts';
import { createFleet, startPatrol, startReceiver } from '../fleet.ts';
import { startDatabase } from '../postgres.ts';
import { createService, type Service } from '../service.ts';
import type { Stand } from '../stand.ts';
import { repeat } from '../until.ts';

/** Three nodes: one ends, and the ways between them and to their database are in trouble. */
export async function troubleNodes({ folder, prometheus, faults }: Stand): Promise<void> {
  await using database = await startDatabase();
  const stored = join(folder, 'objects');
  mkdirSync(stored);
  await using objects = await startObjectStore(stored);
  const env = { ...database.env, ...objects.env, LAPEL_PUBLIC_URL: 'https://lapel.test' };
  await using stack = new AsyncDisposableStack();
  const nodes: Service[] = [];
  for (const name of ['one', 'two', 'three'])
    nodes.push(stack.use(await createService({ LAPEL_DATA_DIR: join(folder, name), ...env })));
  const [first, , last] = nodes as [Service, Service, Service];
  const fleet = createFleet(first.addresses);
  const away = createFleet(last.addresses);
  using receiver = await startReceiver();
  const { patrol, device } = await startPatrol(fleet, receiver, away);
  await prometheus.watch(
    'lapel-nodes',
    nodes.map(({ target }) => target),
  );
  let stop = async (): Promise<void> => undefined;
  const end = (): Promise<void> => stop();

  await faults.try({
    alerts: ['LapelHintsDropped'],
    fault: 'the connections for hints between nodes are cut again and again, while applications send commands',
    make: () => {
      const path = `/devices/${device.deviceId}/settings/lang`;
      const calls = repeat(() => Promise.all(['ja', 'en', 'de'].map((lang) => patrol.send('PUT', path, { lang }))), 50);
      const cuts = repeat(
        () =>
          database.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lapel hints'",
          ),
        100,
      );
      stop = async () => void (await Promise.all([calls(), cuts()]));
    },
    end,
  });
  await faults.try({
    alerts: ['LapelLeaseLate'],
    fault: 'the database stands still for 1.5 s again and again',
    make: () => {
      stop = database.stutter(1500, 400);
    },
    end,
  });
  let unlock = async (): Promise<void> => undefined;
  await faults.try({
    alerts: ['LapelHealLate'],
    fault: 'a session that hangs has locked the deliveries, so that nobody finds those that are due',
    make: async () => {
      unlock = await database.lock('deliveries', 'ACCESS EXCLUSIVE');
    },
    end: () => unlock(),
  });
  await faults.try({
    alerts: ['LapelNodeMissing', 'LapelPartitionsWithoutNode'],
    fault: 'a node is killed',
    make: () => last.end('SIGKILL'),
    end: () => last.start(),
  });
  await faults.try({
    alerts: ['LapelUnwatched'],
    fault: 'Prometheus has lost its targets',
    make: () => prometheus.watch('lapel-nodes', []),
    end: () => prometheus.watch('lapel-nodes', [first.target]),
  });
}
