import type { WebhookSetting } from '@lapel/schemas/contracts/types';
import type { Sql } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';

/** The pending deliveries of one receiver; times in microseconds. */
export interface PendingOf {
  applicationId: string;
  setting: WebhookSetting;
  pending: number;
  /** The earliest time of a next attempt; it may be in the past. */
  firstDueAt: Micros;
  /** The earliest time of a next attempt that is in the future. */
  nextDueAt: Micros | null;
}

/** An application and its developer, with the names that people know. */
export interface Owner {
  applicationId: string;
  applicationName: string;
  developerId: string;
  developerName: string;
}

/** The owners of all applications, also of deleted ones, which may still have pending deliveries. */
export const listOwners = (sql: Sql): Promise<Owner[]> =>
  sql.all(
    `SELECT a.application_id AS "applicationId", a.name AS "applicationName", a.developer_id AS "developerId",
       d.name AS "developerName"
     FROM applications a JOIN developers d ON d.developer_id = a.developer_id`,
  );

/**
 * Counts the pending deliveries of each receiver. The query reads all pending deliveries from an index, so it runs on a
 * thread of its own.
 */
export const countPending = (sql: Sql, now: Micros): Promise<PendingOf[]> =>
  sql.all<PendingOf>(
    `SELECT application_id AS "applicationId", setting, count(*) AS pending, MIN(next_attempt_at) AS "firstDueAt",
       MIN(CASE WHEN next_attempt_at > ? THEN next_attempt_at END) AS "nextDueAt"
     FROM deliveries WHERE status = 'pending' GROUP BY application_id, setting`,
    now,
  );
