import { fdatasyncSync } from 'node:fs';
import type SqliteDatabase from 'better-sqlite3';

/** The memory that a service shares with its thread for the write-ahead log. */
export interface Shared {
  /** The database's file. */
  file: string;
  /** The file of the log, as it is open in this process. */
  descriptor: number;
  memory: Int32Array<SharedArrayBuffer>;
}

// Places in the memory: the number of the last request, the request, the number of the last one that was carried out, its
// result, and whether the thread runs.
export const ASKED = 0;
export const REQUEST = 1;
export const DONE = 2;
export const RESULT = 3;
export const RUNS = 4;
export const PLACES = 5;

// Whether the thread runs: it does not yet, it waits for requests, it has ended.
export const STARTS = 0;
export const WAITS = 1;
export const ENDED = 2;

/**
 * `sync` waits until the disk has the log, `copy` copies the log into the database while nobody writes, `empty` does the
 * same and truncates the log, `end` ends the thread.
 */
export const REQUESTS = ['sync', 'copy', 'empty', 'end'] as const;
export type Request = Exclude<(typeof REQUESTS)[number], 'end'>;

// Results besides the system's errors, which are negative numbers.
export const FINE = 0;
/** Somebody reads the log, so it could not be copied whole. */
const BUSY = 1;
/** SQLite has failed. */
export const FAILED = 2;

/** Carries out a request, and returns its result. */
export function carryOut(
  request: Request,
  { descriptor, connection }: { descriptor: number; connection(): SqliteDatabase.Database },
): number {
  try {
    if (request !== 'sync') {
      const mode = request === 'copy' ? 'PASSIVE' : 'TRUNCATE';
      return connection().pragma(`wal_checkpoint(${mode})`, { simple: true }) === 0 ? FINE : BUSY;
    }
    fdatasyncSync(descriptor);
    return FINE;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).errno ?? FAILED;
  }
}
