import type { Cluster } from './cluster.ts';
import type { DueOfDevice } from './owner-repository.ts';
import type { Renaming } from './ownership.ts';
import type { Receiver, Worker } from './partitions.ts';

/** The functions that carry out hints of other nodes, and that begin the work which the check for lost hints finds. */
export interface HintWorkers {
  commands: {
    wake(deviceId: string, kind: 'wake' | 'cancel'): void;
    found(due: DueOfDevice): void;
  };
  webhooks: Omit<Worker, 'adopt'> & {
    due(receiver: Receiver, how: 'passed on' | 'by another'): void;
    takeUp: Worker['adopt'];
  };
  /** Writes this node's new name into rows of other tables. */
  renamed: Renaming;
}

/** Connects hints and healing with the functions that carry them out. */
export function serveHints({ bus, heal, ownership, partitions, crosses }: Cluster, workers: HintWorkers): void {
  const { commands, webhooks, renamed } = workers;
  for (const kind of ['wake', 'cancel'] as const) bus.on(kind, (deviceId) => commands.wake(deviceId, kind));
  bus.on('crossed', crosses);
  bus.on('due', (about) => {
    const { receiver, passedOn } = partitions.readHint(about);
    webhooks.due(receiver, passedOn ? 'passed on' : 'by another');
  });
  partitions.serve({ adopt: webhooks.takeUp, drain: webhooks.drain, dropLost: webhooks.dropLost });
  heal.add(() => webhooks.takeUp());
  heal.add((isThorough) => ownership.heal(commands.found, isThorough));
  ownership.whenRenamed(renamed);
}
