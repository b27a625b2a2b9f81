import type { Sql } from '../../platform/database/sql.ts';

export interface UnfinishedMember {
  deviceId: string;
  stage: number;
  place: number;
  code: string | null;
  /** The number of times that its command was published. */
  published: number;
}

/** Unfinished members behind a place, in their order. */
export const findUnfinished = (
  sql: Sql,
  rolloutId: string,
  { stage, place }: { stage: number; place: number },
  limit: number,
): Promise<UnfinishedMember[]> =>
  sql.all<UnfinishedMember>(
    `SELECT m.device_id AS "deviceId", m.stage, m.place, m.code, COALESCE(t.attempts, 0) AS published
     FROM rollout_members m LEFT JOIN transactions t ON t.transaction_id = m.transaction_id
     WHERE m.rollout_id = ? AND m.state = 'unfinished' AND (m.stage > ? OR (m.stage = ? AND m.place > ?))
     ORDER BY m.stage, m.place LIMIT ?`,
    rolloutId,
    stage,
    stage,
    place,
    limit,
  );

/** Whether the device was sent a command that is newer than this one. */
export async function wasOvertaken(sql: Sql, deviceId: string, transactionId: number): Promise<boolean> {
  // Due transactions and others have indexes of their own.
  for (const due of [0, 1] as const) {
    const text = `SELECT 1 AS one FROM transactions
      WHERE device_id = ? AND due = ${due} AND transaction_id > ? AND attempts > 0 LIMIT 1`;
    if (await sql.get(text, deviceId, transactionId)) return true;
  }
  return false;
}

/** Whether a command was ever claimed for its device. */
export async function wasPublished(sql: Sql, transactionId: number | null): Promise<boolean> {
  const row = await sql.get<{ published: number }>(
    'SELECT attempts AS published FROM transactions WHERE transaction_id = ?',
    transactionId ?? 0,
  );
  return (row?.published ?? 0) > 0;
}
