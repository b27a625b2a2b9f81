import type { Sql, UnitOfWork } from './sql.ts';

/** Rows of one kind that have served their time: found on a thread of their own, removed in the writer's turns. */
export interface Sweep<Found = unknown> {
  /** In words for metrics and the log. */
  kind:
    | 'transactions'
    | 'deliveries'
    | 'device_events'
    | 'device_requests'
    | 'idempotency_keys'
    | 'console_sessions'
    | 'audit_log'
    | 'fleet_history';
  /** Microseconds that they are kept. */
  keptFor: number;
  /**
   * What may go of what ended before a time, in pages; a page may be empty. `dueAt`: the time of the first of them. It is
   * asked while others write: what it finds is looked at again when it is removed.
   */
  find(sql: Sql, before: number): AsyncIterable<{ found: readonly Found[]; oldestAt: number | undefined }>;
  /** Removes one, if it still may go. Answers how many rows went. */
  remove(unit: UnitOfWork, found: Found, before: number): Promise<number>;
  /** The time of the oldest that there is; null when there is none. */
  oldestAt(sql: Sql): Promise<number | null>;
}

/** Microseconds of a setting in days, of which 0 are for ever. */
export const keptFor = (days: number): number => (days === 0 ? Number.POSITIVE_INFINITY : days * 86_400_000_000);

/** Rows that one look reads over: some milliseconds of the thread that looks. */
export const ROWS_PER_LOOK = 2_000;
