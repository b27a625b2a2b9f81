import type { Cluster } from '../../platform/cluster/cluster.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { daysInMicros } from '../../platform/database/sweep.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The nodes, with their leases; undefined for a process that is alone at its database. */
  cluster: Pick<Cluster, 'nodes' | 'heal'> | undefined;
  /** The days for which ended lives are kept; 0 for ever. */
  keptDays: number;
}

const BEGIN = `INSERT INTO node_lives (node_id, begun_at) VALUES (?, ?) ON CONFLICT (node_id) DO NOTHING`;
const END = 'UPDATE node_lives SET ended_at = ?, reason = ? WHERE ended_at IS NULL';

/**
 * Records when processes of the service began and ended, because the connections of all their devices end with them. A
 * process that stops writes one row for itself and none for its devices. The end of a process that was killed is
 * recorded by others: by the next start, or, of several nodes, by the one that leads, once the lease has run out.
 */
export function createNodeLives({ database, clock, ids, log, cluster, keptDays }: Parts) {
  const ownId = cluster ? '' : ids.next('node', clock.now());
  const nodeId = cluster ? cluster.nodes.id : () => ownId;

  const begin = (unit: UnitOfWork): Promise<number> => unit.run(BEGIN, nodeId(), clock.now());

  async function endLost(): Promise<void> {
    if (!cluster?.nodes.leads()) return;
    await database.transact(
      async (unit) => {
        await unit.run(
          `${END} AND node_id NOT IN (SELECT node_id FROM nodes WHERE lease_until > clock_timestamp())`,
          clock.now(),
          'node_lost',
        );
      },
      { pace: 'soon' },
    );
  }

  return {
    /** The name of this process. */
    nodeId,

    async start(): Promise<void> {
      cluster?.nodes.onBack(() => {
        database
          .transact(begin, { pace: 'soon' })
          .catch((err: unknown) => log.warn({ err }, 'the new name of this node could not be recorded'));
      });
      cluster?.heal.add(endLost);
      await database.transact(async (unit) => {
        if (!cluster) await unit.run(END, clock.now(), 'node_lost');
        if (keptDays > 0)
          await unit.run('DELETE FROM node_lives WHERE ended_at < ?', clock.now() - daysInMicros(keptDays));
        await begin(unit);
      });
    },

    /** Records the end of this process. When that fails, it counts as lost. */
    async [Symbol.asyncDispose](): Promise<void> {
      await database
        .transact((unit) => unit.run(`${END} AND node_id = ?`, clock.now(), 'node_stopped', nodeId()))
        .catch((err: unknown) => log.debug({ err }, 'the end of this process could not be recorded'));
    },
  };
}
