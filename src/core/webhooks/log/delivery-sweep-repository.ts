import { inSets } from '../../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../../platform/database/sql.ts';
import { ROWS_PER_READ } from '../../../platform/database/sweep.ts';
import type { Micros } from '../../../runtime/units.ts';
import type { DeliveryKey } from '../delivery.ts';

/** An event whose delivery has a final outcome, or that is only in the stream. */
export interface EndedDelivery extends DeliveryKey {
  createdAt: Micros;
  /** Of the first event of a page: the highest number in the stream of all that are found with it; otherwise null. */
  lastOfPage: number | null;
  /** 0 when its first attempt succeeded, so that there are no failed attempts to remove. */
  hasFailed: 0 | 1;
}

/** The next application, by id, that has deliveries. */
export async function findNextApplication(sql: Sql, after: string): Promise<string | undefined> {
  const text = 'SELECT MIN(application_id) AS "applicationId" FROM deliveries WHERE application_id > ?';
  const row = await sql.get<{ applicationId: string | null }>(text, after);
  return row?.applicationId ?? undefined;
}

/** The last id among the next deliveries of an application, after one id and before another; ids rise with time. */
export async function findLastOfPage(
  sql: Sql,
  applicationId: string,
  { after, before }: { after: string; before: string },
): Promise<string | undefined> {
  const seen = await sql.get<{ last: string | null }>(
    `SELECT MAX(delivery_id) AS last FROM (SELECT delivery_id FROM deliveries
       WHERE application_id = ? AND delivery_id > ? AND delivery_id < ? ORDER BY delivery_id LIMIT ?) AS seen`,
    applicationId,
    after,
    before,
    ROWS_PER_READ,
  );
  return seen?.last ?? undefined;
}

/** The deliveries in a range of ids with a final outcome that was stored before a time. */
export async function findEndedDeliveries(
  sql: Sql,
  applicationId: string,
  { after, upTo, before }: { after: string; upTo: string; before: number },
): Promise<EndedDelivery[]> {
  const rows = await sql.all<EndedDelivery & { sequence: number | null }>(
    `SELECT application_id AS "applicationId", delivery_id AS "deliveryId", created_at AS "createdAt",
       sequence, NULL AS "lastOfPage",
       CASE WHEN status = 'delivered' AND attempts <= 1 AND round = 0 THEN 0 ELSE 1 END AS "hasFailed" FROM deliveries
     WHERE application_id = ? AND delivery_id > ? AND delivery_id <= ? AND status <> 'pending' AND updated_at < ?`,
    applicationId,
    after,
    upTo,
    before,
  );
  const lastOfPage = rows.reduce<number | null>(
    (last, { sequence }) => Math.max(last ?? 0, sequence ?? 0) || null,
    null,
  );
  return rows.map((row, index) => (index === 0 ? { ...row, lastOfPage } : row));
}

const REMOVED = `INSERT INTO event_counts (application_id, device_id, last) VALUES (?, '', ?)
  ON CONFLICT (application_id, device_id) DO UPDATE SET last = excluded.last WHERE event_counts.last < excluded.last`;

/** Keeps up to which number events of an application may have been removed. */
export const keepRemoved = (unit: UnitOfWork, applicationId: string, last: number): void =>
  unit.later(REMOVED, [applicationId, last]);

const REMOVE = inSets(
  `DELETE FROM deliveries WHERE application_id = ? AND delivery_id = ? AND status <> 'pending' AND updated_at < ?`,
  ['text', 'text', 'bigint'],
);

/** Removes a delivery if its final outcome was stored before the time; returns the number of removed rows. */
export const removeEndedDelivery = (
  sql: Sql,
  { applicationId, deliveryId }: DeliveryKey,
  before: number,
): Promise<number> => sql.run(REMOVE, applicationId, deliveryId, before);

/** The transactions of pending deliveries that were made before a time. */
export async function findPendingTransactions(sql: Sql, before: number): Promise<number[]> {
  const rows = await sql.all<{ transactionId: number }>(
    `SELECT transaction_id AS "transactionId" FROM deliveries
     WHERE status = 'pending' AND created_at < ? AND transaction_id IS NOT NULL`,
    before,
  );
  return rows.map(({ transactionId }) => transactionId);
}

/** The time at which an application's oldest delivery was made. */
export async function findOldest(sql: Sql, applicationId: string): Promise<number> {
  const row = await sql.get<{ at: number }>(
    'SELECT created_at AS at FROM deliveries WHERE application_id = ? ORDER BY delivery_id LIMIT 1',
    applicationId,
  );
  return row?.at ?? Number.POSITIVE_INFINITY;
}
