import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { ConsumerPlace } from './consumer-state.ts';

/** A reader of the stream that keeps its place in the service. */
export interface Consumer {
  name: string;
  /** The number of the last event that it has handled; 0 at the beginning of the stream. */
  after: number;
  updatedAt: Micros;
}

const COLUMNS = 'name, after_sequence AS "after", updated_at AS "updatedAt"';

export const listConsumers = (sql: Sql, applicationId: string): Promise<Consumer[]> =>
  sql.all(`SELECT ${COLUMNS} FROM event_consumers WHERE application_id = ? ORDER BY name`, applicationId);

export const findConsumer = (sql: Sql, applicationId: string, name: string): Promise<Consumer | undefined> =>
  sql.get(`SELECT ${COLUMNS} FROM event_consumers WHERE application_id = ? AND name = ?`, applicationId, name);

const OLDEST = `(SELECT d.created_at FROM deliveries d WHERE d.application_id = c.application_id AND d.sequence > c.after_sequence
  ORDER BY d.sequence LIMIT 1) AS "oldestAt"`;
const REMOVED = `COALESCE((SELECT e.last FROM event_counts e WHERE e.application_id = c.application_id AND e.device_id = ''), 0)
  AS removed`;

/**
 * Consumers of all applications that stay, each with its oldest unhandled event, in the order of their keys; those
 * behind a key, at most `most`. Each costs two seeks in an index, and the read of one event.
 */
export const listPlaces = (
  sql: Sql,
  behind: { applicationId: string; name: string },
  most: number,
): Promise<(ConsumerPlace & { applicationId: string; name: string })[]> =>
  sql.all(
    `SELECT c.application_id AS "applicationId", c.name, c.after_sequence AS "after", c.updated_at AS "updatedAt", ${OLDEST},
       ${REMOVED} FROM event_consumers c JOIN applications a ON a.application_id = c.application_id
     WHERE (c.application_id, c.name) > (?, ?) AND a.removal_id IS NULL ORDER BY c.application_id, c.name LIMIT (? + 0)`,
    behind.applicationId,
    behind.name,
    most,
  );

/** Stores the place of a consumer, which may be new. The unit has locked the application. */
export const saveConsumer = (unit: UnitOfWork, applicationId: string, { name, after, updatedAt }: Consumer): void =>
  unit.later(
    `INSERT INTO event_consumers (application_id, name, after_sequence, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (application_id, name) DO UPDATE SET after_sequence = excluded.after_sequence,
       updated_at = excluded.updated_at`,
    [applicationId, name, after, updatedAt],
  );

/** Returns the number of removed rows: 0 when there was none. */
export const removeConsumer = (unit: UnitOfWork, applicationId: string, name: string): Promise<number> =>
  unit.run('DELETE FROM event_consumers WHERE application_id = ? AND name = ?', applicationId, name);

/** Deletes the consumers of an application and its counts, in the unit of work that removes the application. */
export async function forgetStream(unit: UnitOfWork, applicationId: string): Promise<void> {
  await unit.run('DELETE FROM event_consumers WHERE application_id = ?', applicationId);
  await unit.run('DELETE FROM event_counts WHERE application_id = ?', applicationId);
}
