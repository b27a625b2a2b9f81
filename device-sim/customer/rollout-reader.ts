import type { LapelClient } from '@lapel/client/lapel-client';
import type { Timers } from '../timers.ts';
import type { Ledger } from './ledger.ts';
import type { Requests } from './requests.ts';
import type { RolloutDetails, RolloutSnapshot } from './rollout-snapshot.ts';

const PAGE = { limit: 1000 } as const;

export interface RolloutReader {
  read(rolloutId: string): Promise<RolloutDetails>;
  /** Reads all that the service says about a rollout, and enters its transactions into the books. */
  look(rolloutId: string): Promise<RolloutSnapshot>;
}

/** Reads rollouts, however often the service has to be asked. */
export function createRolloutReader({
  lapel,
  requests,
  ledger,
  timers,
}: {
  lapel: LapelClient;
  requests: Pick<Requests, 'insist'>;
  ledger: Pick<Ledger, 'adopt'>;
  timers: Timers;
}): RolloutReader {
  /** Reads a whole list; after a failure it begins anew. */
  const list = <Row>(rows: () => AsyncIterable<Row>): Promise<Row[]> =>
    requests.insist(async () => {
      const all: Row[] = [];
      for await (const row of rows()) all.push(row);
      return all;
    });

  const read = (rolloutId: string): Promise<RolloutDetails> => requests.insist(() => lapel.readRollout({ rolloutId }));

  return {
    read,
    async look(rolloutId) {
      const transactions = await list(() => lapel.each('listOwnTransactions', { query: { ...PAGE, rolloutId } }));
      for (const { transactionId, deviceId } of transactions)
        ledger.adopt({ rolloutId, transactionId, deviceId }, timers.now());
      const devices = await list(() => lapel.each('listRolloutDevices', { rolloutId, query: PAGE }));
      return { transactions, devices, rollout: await read(rolloutId) };
    },
  };
}
