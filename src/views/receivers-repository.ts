import type { WebhookSetting } from '../platform/contracts/types.ts';
import type { Sql } from '../platform/database/sql.ts';

/** What waits for a receiver; times in microseconds. */
export interface PendingOf {
  applicationId: string;
  setting: WebhookSetting;
  pending: number;
  /** The earliest time at which any of it is, or was, due. */
  firstDueAt: number;
  /** The earliest that is still to come. */
  nextDueAt: number | null;
}

/** What waits for each receiver. Looks at all of it, in the index alone: for a thread of its own. */
export const countPending = (sql: Sql, now: number): Promise<PendingOf[]> =>
  sql.all<PendingOf>(
    `SELECT application_id AS "applicationId", setting, count(*) AS pending, MIN(next_attempt_at) AS "firstDueAt",
       MIN(CASE WHEN next_attempt_at > ? THEN next_attempt_at END) AS "nextDueAt"
     FROM deliveries WHERE status = 'pending' GROUP BY application_id, setting`,
    now,
  );
