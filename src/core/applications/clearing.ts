import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { ROWS_PER_READ } from '../../platform/database/sweep.ts';

/** The customer who leaves: a developer with everything, or one application. */
export interface Leaver {
  developerId: string;
  /** Null when the whole developer leaves. */
  applicationId: string | null;
}

/** The kinds of rows that a removal counts. */
export const CLEARED_KINDS = [
  'connections',
  'devices',
  'rollouts',
  'transactions',
  'deliveries',
  'idempotencyKeys',
  'versions',
  'storedBytes',
  'packages',
  'applications',
] as const;
export type ClearedKind = (typeof CLEARED_KINDS)[number];

/** How many rows of each kind were removed. */
export type Cleared = Partial<Record<ClearedKind, number>>;

/**
 * Removes all rows of one kind that a leaving customer has: they are found on a thread of their own, and removed by the
 * writer in small steps. A clearing that is interrupted is begun again, and finds what is left.
 */
export interface Clearing<Found = unknown> {
  kind: ClearedKind;
  /** Finds rows, in pages, which may be empty. */
  find(sql: Sql, leaver: Leaver): AsyncIterable<readonly Found[]>;
  /** Removes a row, if it still is the customer's. */
  remove(unit: UnitOfWork, found: Found, leaver: Leaver): Promise<Cleared>;
  /**
   * For rows whose removal locks more rows than one: on PostgreSQL each has a unit of work of its own, since several
   * could lock rows in another order than other units do. It is about this device, if one is returned.
   */
  alone?(found: Found): string | undefined;
  /**
   * For a search through rows of all customers: it runs once, after all devices are removed, so that no further row comes.
   */
  once?: true;
  /** Called after the commit. */
  removed?(found: Found): Promise<void>;
}

/** Reads pages of rows that are ordered by a key, each beginning behind the key of the last row of the page before. */
export async function* pagesBy<Row, Key>(
  first: Key,
  keyOf: (row: Row) => Key,
  read: (after: Key, limit: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after = first; ; ) {
    const page = await read(after, ROWS_PER_READ);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < ROWS_PER_READ) return;
    after = keyOf(last);
  }
}

/** The condition that a column has an application of the customer, for one parameter, and the value of that parameter. */
export const ofLeaver = (column: string, { developerId, applicationId }: Leaver): [text: string, value: string] =>
  applicationId === null
    ? [`${column} IN (SELECT application_id FROM applications WHERE developer_id = ?)`, developerId]
    : [`${column} = ?`, applicationId];

/** The applications that leave, also those that were deleted before. */
export async function* leavingApplications(sql: Sql, { developerId, applicationId }: Leaver): AsyncGenerator<string> {
  if (applicationId !== null) return yield applicationId;
  const pages = pagesBy<{ id: string }, string>(
    '',
    (row) => row.id,
    (after, limit) =>
      sql.all<{ id: string }>(
        `SELECT application_id AS id FROM applications WHERE developer_id = ? AND application_id > ?
       ORDER BY application_id LIMIT ?`,
        developerId,
        after,
        limit,
      ),
  );
  for await (const page of pages) for (const { id } of page) yield id;
}
