import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

/** The number of unfinished devices of each stage whose commands were delivered. */
export const countInstalling = (sql: Sql, rolloutId: string): Promise<{ stage: number; devices: number }[]> =>
  sql.all(
    `SELECT m.stage, CAST(COUNT(*) AS INTEGER) AS devices FROM rollout_members m
     JOIN transactions t ON t.transaction_id = m.transaction_id
     WHERE m.rollout_id = ? AND m.state = 'unfinished' AND t.delivered_at IS NOT NULL GROUP BY m.stage`,
    rolloutId,
  );

/** The unfinished devices of each stage that were heard of since their commands were made, and have not got them yet. */
export const countHeard = (sql: Sql, rolloutId: string): Promise<{ stage: number; devices: number }[]> =>
  sql.all(
    `SELECT m.stage, CAST(COUNT(*) AS INTEGER) AS devices FROM rollout_members m
     JOIN transactions t ON t.transaction_id = m.transaction_id
     JOIN device_presence p ON p.device_id = m.device_id
     WHERE m.rollout_id = ? AND m.state = 'unfinished' AND t.delivered_at IS NULL AND p.last_seen_at >= t.created_at
     GROUP BY m.stage`,
    rolloutId,
  );

/** Unfinished devices of which nothing is stored since their commands were made, and the times of these. */
export const findUnheard = (
  sql: Sql,
  rolloutId: string,
  limit: number,
): Promise<{ deviceId: string; stage: number; createdAt: Micros }[]> =>
  sql.all(
    `SELECT m.device_id AS "deviceId", m.stage, t.created_at AS "createdAt" FROM rollout_members m
     JOIN transactions t ON t.transaction_id = m.transaction_id
     LEFT JOIN device_presence p ON p.device_id = m.device_id
     WHERE m.rollout_id = ? AND m.state = 'unfinished' AND t.delivered_at IS NULL
       AND COALESCE(p.last_seen_at, 0) < t.created_at
     ORDER BY m.stage, m.place LIMIT ?`,
    rolloutId,
    limit,
  );
