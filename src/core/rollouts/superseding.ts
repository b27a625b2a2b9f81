import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { findDevice } from '../devices/device-repository.ts';
import { findMember, type MemberPlace } from './member-repository.ts';
import { isSameKind } from './overlaps.ts';
import { findUnfinished } from './place-repository.ts';
import type { Rollout, RolloutOperation } from './rollout.ts';
import { findRollout } from './rollout-repository.ts';

/** The code of a member whose device a newer rollout of the same kind has commanded. */
export const SUPERSEDED = 'SUPERSEDED';
const PER_PAGE = 1_000;
const FIRST: MemberPlace = { stage: -1, place: -1 };

type Kind = Pick<Rollout, 'createdAt' | 'applicationId' | 'operation' | 'subject'>;

async function findNewer(sql: Sql, rollout: Kind): Promise<string[]> {
  const rows = await sql.all<{ rolloutId: string; operation: RolloutOperation; subject: string | null }>(
    `SELECT rollout_id AS "rolloutId", operation, subject FROM rollouts
     WHERE application_id = ? AND rollout_id > ? AND created_at > ? AND operation = ?`,
    rollout.applicationId,
    idsFrom('rol', rollout.createdAt), // the index finds the few newer ones by it
    rollout.createdAt,
    rollout.operation,
  );
  return rows.filter((one) => isSameKind(one, rollout)).map(({ rolloutId }) => rolloutId);
}

/**
 * Those of the devices to which a newer rollout of the same kind has given a command, or which it has found with what it
 * wants, with the transaction if there is one: the older rollout would take that away again. A command that was cancelled
 * before it was ever published has done nothing.
 */
export async function supersededAmong(
  sql: Sql,
  rollout: Kind,
  deviceIds: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  const found = new Map<string, number | null>();
  for (const newer of await findNewer(sql, rollout))
    for (const list of inLists(deviceIds)) {
      const rows = await sql.all<{ deviceId: string; transactionId: number | null }>(
        `SELECT m.device_id AS "deviceId", m.transaction_id AS "transactionId" FROM rollout_members m
         LEFT JOIN transactions t ON t.transaction_id = m.transaction_id
         WHERE m.rollout_id = ? AND (m.transaction_id IS NOT NULL OR m.state = 'unchanged')
           AND NOT (m.state = 'cancelled' AND COALESCE(t.attempts, 1) = 0) AND m.device_id IN ${IN_LIST}`,
        newer,
        ...list,
      );
      for (const { deviceId, transactionId } of rows) found.set(deviceId, transactionId);
    }
  return found;
}

interface Parts {
  database: Database;
  /** Ends a queued transaction whose device the unit has locked, because a newer one took its place. */
  supersedeQueuedIn(unit: UnitOfWork, transactionId: number, by: number | null): Promise<void>;
}

/**
 * Ends the published commands of a rollout that goes on, which nobody has confirmed, if a newer rollout has commanded the
 * device meanwhile: they would go out again.
 */
export const createSuperseding =
  ({ database, supersedeQueuedIn }: Parts) =>
  async (rollout: Rollout): Promise<void> => {
    const { rolloutId } = rollout;
    for (let after: MemberPlace | undefined = FIRST; after; ) {
      const page: Awaited<ReturnType<typeof findUnfinished>> = await findUnfinished(
        database.read,
        rolloutId,
        after,
        PER_PAGE,
      );
      const ids = page.map(({ deviceId }) => deviceId);
      for (const [deviceId, by] of await supersededAmong(database.read, rollout, ids))
        await database.transact(
          async (unit) => {
            await findDevice(unit, deviceId, unit.forUpdate);
            await findRollout(unit, rolloutId, unit.forUpdate);
            const member = await findMember(unit, rolloutId, deviceId);
            if (member?.state !== 'unfinished' || member.transactionId === null) return;
            await supersedeQueuedIn(unit, member.transactionId, by);
          },
          { pace: 'soon' },
        );
      after = page.length < PER_PAGE ? undefined : page.at(-1);
    }
  };
