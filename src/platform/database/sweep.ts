import type { Sql, UnitOfWork } from './sql.ts';

/** Removes expired rows of one kind: they are found on a thread of their own, and removed by the writer in small steps. */
export interface Sweep<Found = unknown> {
  /** The name of the kind in metrics and the log. */
  kind:
    | 'transactions'
    | 'rollouts'
    | 'device_actions'
    | 'deliveries'
    | 'endpoint_deliveries'
    | 'device_events'
    | 'device_requests'
    | 'idempotency_keys'
    | 'console_sessions'
    | 'audit_log'
    | 'connection_log'
    | 'device_samples'
    | 'fleet_history'
    | 'service_history'
    | 'removals'
    | 'enrolments';
  /** Microseconds for which rows are kept; infinite when they are kept for ever. */
  keptForMicros: number;
  /**
   * Finds rows that ended before a time, in pages, which may be empty; `oldestAt` is the time of a page's first row. Others
   * write meanwhile, so each row is checked again when it is removed.
   */
  find(sql: Sql, before: number): AsyncIterable<{ found: readonly Found[]; oldestAt: number | undefined }>;
  /** Removes a row if it still is expired. Returns the number of rows that were removed. */
  remove(unit: UnitOfWork, found: Found, before: number): Promise<number>;
  /** The time of the oldest row; null when there is none. */
  oldestAt(sql: Sql): Promise<number | null>;
}

/** Microseconds of a setting in days, where 0 means for ever. */
export const daysInMicros = (days: number): number => (days === 0 ? Number.POSITIVE_INFINITY : days * 86_400_000_000);

/** The number of rows that one step examines, which takes the reading thread some milliseconds. */
export const ROWS_PER_READ = 2_000;

/** A sweep of rows of which a read finds the oldest ones of all. */
export const sweepOfRows = <Found extends { at: number }>({
  findOld,
  ...sweep
}: Omit<Sweep<Found>, 'find'> & {
  /** The oldest rows before a time, a page of them. */
  findOld(sql: Sql, before: number): Promise<Found[]>;
}): Sweep<Found> => ({
  ...sweep,
  async *find(sql, before) {
    for (let last = ''; ; ) {
      const found = await findOld(sql, before);
      const [first] = found;
      // The same first row was found before, so it could not be deleted.
      if (!first || JSON.stringify(first) === last) return;
      yield { found, oldestAt: first.at };
      last = JSON.stringify(first);
    }
  },
});
