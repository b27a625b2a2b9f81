import type { Nodes } from '../../platform/cluster/nodes.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { StoredPacket } from './stored-packet.ts';
import { takeOrphan, willsOfOthers } from './will-repository.ts';

/** Milliseconds between two checks. The devices of a node that was found dead have this time to connect again. */
const BETWEEN_MS = 60_000;
const PAGE = 500;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  nodes: Pick<Nodes, 'live' | 'leads'>;
  carryOut(will: StoredPacket): Promise<void>;
}

/**
 * Carries out the wills of devices whose node has died and that have not connected to another node for a minute: their
 * connections ended without a DISCONNECT [MQTT-3.1.2-8]. Only one node does this. It deletes each will before it
 * publishes it, so no other node can publish the same will.
 */
export function createOrphanedWills({ database, clock, log, nodes, carryOut }: Parts) {
  /** The brokers that were already dead at the last check. */
  let dead = new Set<string>();
  const work = createWork();
  let cancel = (): void => undefined;
  let stopped = false;

  async function check(): Promise<void> {
    const live = nodes.live().map(({ nodeId }) => nodeId);
    const found = new Set<string>();
    for (let after: string | undefined = ''; after !== undefined && !stopped; ) {
      const wills = await willsOfOthers(database.prompt, live, after, PAGE);
      for (const orphan of wills) {
        found.add(orphan.brokerId);
        if (!dead.has(orphan.brokerId)) continue;
        const will = await database.transact((unit) => takeOrphan(unit, orphan, clock.now()), {
          device: orphan.clientId,
          pace: 'crowd',
        });
        if (will) await carryOut(will);
      }
      after = wills.length === PAGE ? wills.at(-1)?.clientId : undefined;
    }
    dead = found;
  }

  function arm(): void {
    cancel = clock.after(BETWEEN_MS, () => {
      if (!nodes.leads()) return arm();
      work.begun();
      void check()
        .catch((err: unknown) => log.warn({ err }, 'the wills of dead nodes could not be read or carried out'))
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
