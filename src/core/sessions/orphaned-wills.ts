import type { Nodes } from '../../platform/cluster/nodes.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { deleteWill, type StoredPacket, willsOfOthers } from './session-repository.ts';

/** Milliseconds between two looks. What a first one finds of a node that is dead has time to come back by the next. */
const BETWEEN = 60_000;
const PAGE = 500;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  nodes: Pick<Nodes, 'live' | 'leads'>;
  carryOut(will: StoredPacket): Promise<void>;
}

/**
 * Wills of devices that were connected to a node which is dead, and that have not connected elsewhere for a minute: their
 * connections ended without a word [MQTT-3.1.2-8]. One node sees to them, and has each by deleting it.
 */
export function createOrphanedWills({ database, clock, log, nodes, carryOut }: Parts) {
  /** Brokers that were dead at the last look. */
  let dead = new Set<string>();
  const work = createWork();
  let cancel = (): void => undefined;
  let stopped = false;

  async function look(): Promise<void> {
    const live = nodes.live().map(({ nodeId }) => nodeId);
    const found = new Set<string>();
    for (let after: string | undefined = ''; after !== undefined && !stopped; ) {
      const wills = await willsOfOthers(database.prompt, live, after, PAGE);
      for (const { clientId, brokerId } of wills) {
        found.add(brokerId);
        if (!dead.has(brokerId)) continue;
        const will = await database.transactInCrowd((unit) => deleteWill(unit, clientId, brokerId), clientId);
        if (will) await carryOut(will);
      }
      after = wills.length === PAGE ? wills.at(-1)?.clientId : undefined;
    }
    dead = found;
  }

  function arm(): void {
    cancel = clock.after(BETWEEN, () => {
      if (!nodes.leads()) return arm();
      work.begun();
      void look()
        .catch((err: unknown) => log.warn({ err }, 'wills of nodes that are dead could not be looked at'))
        .finally(() => {
          work.ended();
          if (!stopped) arm();
        });
    });
  }

  return {
    start: async (): Promise<void> => arm(),
    idle: work.idle,
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel();
      await work.idle();
    },
  };
}
