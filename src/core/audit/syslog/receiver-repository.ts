import type { Sql } from '../../../platform/database/sql.ts';
import type { Micros } from '../../../runtime/units.ts';

/** The position of the last entry that a receiver has taken; 0 before the first. */
export async function findSent(sql: Sql, receiver: string): Promise<number> {
  const row = await sql.get<{ position: number }>('SELECT position FROM audit_receivers WHERE receiver = ?', receiver);
  return row?.position ?? 0;
}

/** Stores how far the log was sent; an earlier position than the stored one is ignored. */
export async function saveSent(sql: Sql, receiver: string, position: number, at: Micros): Promise<void> {
  await sql.run(
    `INSERT INTO audit_receivers (receiver, position, sent_at) VALUES (?, ?, ?)
     ON CONFLICT (receiver) DO UPDATE SET position = excluded.position, sent_at = excluded.sent_at
     WHERE audit_receivers.position < excluded.position`,
    receiver,
    position,
    at,
  );
}

/** The time of the first sealed entry behind a position; undefined without one. */
export async function findNextAt(sql: Sql, after: number): Promise<Micros | undefined> {
  const row = await sql.get<{ at: Micros }>(
    'SELECT at FROM audit_log WHERE position > ? ORDER BY position LIMIT 1',
    after,
  );
  return row?.at;
}
