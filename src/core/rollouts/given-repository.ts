import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql } from '../../platform/database/sql.ts';
import { type Given, mayHaveIt } from './given.ts';
import type { Rollout } from './rollout.ts';
import { placeInSubject } from './taken-settings.ts';

/** The devices of a rollout that had a command of it, behind a deviceId, in the order of their deviceIds. */
export const findGiven = (sql: Sql, rolloutId: string, after: string, limit: number): Promise<Given[]> =>
  sql.all<Given>(
    `SELECT m.device_id AS "deviceId", m.state, t.status, t.attempts, t.delivered_at AS "deliveredAt", t.late
     FROM rollout_members m LEFT JOIN transactions t ON t.transaction_id = m.transaction_id
     WHERE m.rollout_id = ? AND m.device_id > ? AND m.transaction_id IS NOT NULL ORDER BY m.device_id LIMIT ?`,
    rolloutId,
    after,
    limit,
  );

/** Commands of a rollout for some devices, by the indexes of devices: due ones, and others. A rollout has more of them. */
const commandsOf = (columns: string, due: 0 | 1, devices: string): string =>
  `SELECT ${columns} FROM transactions
   WHERE device_id IN ${devices} AND due = ${due} AND application_id = ? AND COALESCE(rollout_id, '') = ?`;

/**
 * Those of the devices that have, or may have, what a command of the rollout gave them. One whose latest command was never
 * published may have it by an earlier one.
 */
export async function givenAmong(
  sql: Sql,
  { rolloutId, applicationId }: Pick<Rollout, 'rolloutId' | 'applicationId'>,
  page: readonly Given[],
  failed: boolean,
): Promise<string[]> {
  const [having, others] = [new Set<string>(), new Set<string>()];
  for (const one of page) (mayHaveIt(one, failed) ? having : others).add(one.deviceId);
  const columns = `device_id AS "deviceId", 'unfinished' AS state, status, attempts, delivered_at AS "deliveredAt", late`;
  for (const list of inLists([...others]))
    for (const due of [0, 1] as const)
      for (const one of await sql.all<Given>(commandsOf(columns, due, IN_LIST), ...list, applicationId, rolloutId))
        if (mayHaveIt(one, failed)) having.add(one.deviceId);
  return page.map(({ deviceId }) => deviceId).filter((deviceId) => having.has(deviceId));
}

/** The latest command of a rollout for a device; null without one. */
export async function latestOf(
  sql: Sql,
  { rolloutId, applicationId }: Pick<Rollout, 'rolloutId' | 'applicationId'>,
  deviceId: string,
): Promise<number | null> {
  let latest: number | null = null;
  for (const due of [0, 1] as const) {
    const text = commandsOf('MAX(transaction_id) AS latest', due, '(?)');
    const row = await sql.get<{ latest: number | null }>(text, deviceId, applicationId, rolloutId);
    latest = Math.max(latest ?? 0, row?.latest ?? 0) || null;
  }
  return latest;
}

/**
 * Those of the devices of a rollout that have, or get, what a later command gives them in the place of the rollout's: it has
 * succeeded, or has no result yet. Commands of the rollout `by` do not count.
 */
export async function replacedAmong(
  sql: Sql,
  { rolloutId, applicationId, operation, subject }: Rollout,
  deviceIds: readonly string[],
  by: string | undefined,
): Promise<Set<string>> {
  const words = placeInSubject(operation, subject);
  // Due transactions and others have indexes of their own.
  const later = (due: 0 | 1): string =>
    `SELECT m.device_id AS "deviceId" FROM rollout_members m JOIN transactions t ON t.device_id = m.device_id
       AND t.due = ${due} AND t.application_id = ? AND t.transaction_id > m.transaction_id
     WHERE m.rollout_id = ? AND m.device_id IN ${IN_LIST} AND t.operation = ?
       AND (t.completed_at IS NULL OR t.status = 'succeeded' OR t.late LIKE '{"status":"succeeded"%')
       AND COALESCE(t.rollout_id, '') <> ? AND COALESCE(t.subject, '') LIKE ? ESCAPE '!'`;
  const found = new Set<string>();
  for (const list of inLists(deviceIds))
    for (const due of [0, 1] as const) {
      const rows = await sql.all<{ deviceId: string }>(
        later(due),
        applicationId,
        rolloutId,
        ...list,
        operation,
        by ?? 'none',
        `${words.replaceAll(/[%_!]/g, '!$&')}%`,
      );
      for (const { deviceId } of rows) found.add(deviceId);
    }
  return found;
}
