import type { Cluster } from './cluster.ts';
import type { Owned } from './owner-repository.ts';
import type { Renaming } from './ownership.ts';
import type { Receiver, Worker } from './partitions.ts';

/** What this node does when another one says so, or when a look finds it to do. */
export interface HintWorkers {
  commands: {
    wake(deviceId: string, kind: 'wake' | 'cancel'): void;
    found(owned: Owned): void;
  };
  webhooks: Omit<Worker, 'adopt'> & {
    due(receiver: Receiver, how: 'passed on' | 'by another'): void;
    takeUp: Worker['adopt'];
  };
  /** What is kept under the name of this node gets its new name. */
  renamed: Renaming;
}

/** From here on the hints of other nodes, and what healing finds, have somebody who works. */
export function serveHints({ bus, heal, ownership, partitions }: Cluster, workers: HintWorkers): void {
  const { commands, webhooks, renamed } = workers;
  for (const kind of ['wake', 'cancel'] as const) bus.on(kind, (deviceId) => commands.wake(deviceId, kind));
  bus.on('due', (about) => {
    const { receiver, passedOn } = partitions.readHint(about);
    webhooks.due(receiver, passedOn ? 'passed on' : 'by another');
  });
  partitions.serve({ adopt: webhooks.takeUp, drain: webhooks.drain, letGo: webhooks.letGo });
  heal.add(webhooks.takeUp);
  heal.add(() => ownership.heal(commands.found));
  ownership.whenRenamed(renamed);
}
