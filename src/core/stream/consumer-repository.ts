import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

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
