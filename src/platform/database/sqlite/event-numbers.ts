import type Sqlite from 'better-sqlite3';

// The rows count too: the sequence is raised at a start only, so it does not know the numbers of the life before.
const LAST = `SELECT MAX(
  COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'event_numbers'), 0),
  COALESCE((SELECT MAX((SELECT MAX(d.sequence) FROM deliveries d
    WHERE d.application_id = a.application_id AND d.sequence IS NOT NULL)) FROM applications a), 0))`;

/**
 * Defines `next_event_number()` for the statements of the writer, as a migration does on PostgreSQL: a number that rises
 * with each call. It counts in memory, because no other process writes; a row that counts would be one more page in each
 * commit. The numbers of a unit that fails are left out.
 */
export function defineEventNumbers(writer: Sqlite.Database): void {
  let last = writer.prepare(LAST).pluck().get() as number;
  writer.function('next_event_number', { deterministic: false }, () => {
    last += 1;
    return last;
  });
}
