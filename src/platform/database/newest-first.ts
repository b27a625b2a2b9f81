import type { Sql, SqlValue } from './sql.ts';

/** A page of rows, the newest first. */
export interface Page<Row> {
  rows: Row[];
  /** How many match in all; null when that could only be found by looking at more rows than a page may. */
  total: number | null;
  /** Where the next page begins: behind `after`, leaving out `offset` more; undefined on the last page. */
  next: { after: string | number; offset: number } | undefined;
}

/** Where a page begins: behind a row (its key), and how many matching rows to leave out from there. */
export interface PageQuery<Key extends string | number> {
  after?: Key;
  offset: number;
  limit: number;
}

interface Wanted<Row, Key extends string | number> {
  table: string;
  /** The column that rises with time, by which an index orders the rows of `where`. */
  key: string;
  keyOf(row: Row): Key;
  /** With their aliases. */
  columns: string;
  /** Whose rows: each range is one of an index that orders them by the key, and no row is in two of them. */
  ranges: readonly { where: string; values: readonly SqlValue[] }[];
  /** Which of them; null for all. It is looked for row by row. */
  filter: string | null;
  filterValues: readonly SqlValue[];
  page: PageQuery<Key>;
  /** Rows that a page looks at, where that is not as usual; nobody asks how many there are then. */
  looksAt?: number | undefined;
  /** Characters of what is large in a row; nothing is, unless told. */
  sizeOf?(row: Row): number;
}

// Rows that one page looks at: with a filter each is fetched, without one the index alone is counted. Both take a few
// milliseconds of the event loop, however many rows there are.
const FILTERED = 2_000;
const COUNTED = 10_000;

/** Characters after which a page ends: whoever reads much must not hold up everybody else. */
export const PAGE_CHARACTERS = 4 * 1024 * 1024;
const ROWS_PER_STEP = 50;

interface Seen<Key> {
  seen: number;
  matched: number;
  last: Key | null;
}

/**
 * Reads a page by its key, so that no page costs more than the first, and looks at a bounded number of rows: a page can be
 * shorter than its limit, even empty, and still not the last one.
 */
export async function newestFirst<Row extends object, Key extends string | number>(
  sql: Sql,
  wanted: Wanted<Row, Key>,
): Promise<Page<Row>> {
  const { table, key, ranges, page } = wanted;
  const filter = wanted.filter ?? '1 = 1';
  const bound = wanted.looksAt ?? (wanted.filter === null ? COUNTED : FILTERED);
  const begin = page.after === undefined ? '' : ` AND ${key} < ?`;
  const windows = (start: string): string[] =>
    ranges.map(
      ({ where }, index) =>
        `(SELECT ${key} AS seen_key, CASE WHEN ${filter} THEN 1 ELSE 0 END AS hit FROM ${table}
        WHERE ${where}${start} ORDER BY ${key} DESC LIMIT ${bound}) AS seen_${index}`,
    );
  // Of several ranges each is bounded before they are merged: PostgreSQL would else sort all that is in them.
  const windowOf = (start: string): string => {
    const [first = '', ...more] = windows(start);
    if (more.length === 0) return first;
    const all = [first, ...more].map((window) => `SELECT seen_key, hit FROM ${window}`).join(' UNION ALL ');
    return `(SELECT seen_key, hit FROM (${all}) AS seen_all ORDER BY seen_key DESC LIMIT ${bound}) AS seen_rows`;
  };
  const look = async (start: string, startValues: readonly SqlValue[]): Promise<Seen<Key>> => {
    const found = await sql.get<Seen<Key>>(
      `SELECT count(*) AS seen, COALESCE(SUM(hit), 0) AS matched, MIN(seen_key) AS last FROM ${windowOf(start)}`,
      ...ranges.flatMap(({ values }) => [...wanted.filterValues, ...values, ...startValues]),
    );
    return found ?? { seen: 0, matched: 0, last: null };
  };

  const after = page.after === undefined ? [] : [page.after];
  const here = await look(begin, after);
  const top = page.after === undefined || wanted.looksAt !== undefined ? here : await look('', []);
  const total = top.seen < bound && wanted.looksAt === undefined ? top.matched : null;
  const isWhole = here.seen < bound;
  const left = Math.max(0, here.matched - page.offset);
  const limit = Math.min(page.limit, left);
  const rows = limit === 0 || here.last === null ? [] : await readRows(sql, wanted, here.last, limit);
  const lastRow = rows.at(-1);
  const full = rows.length < limit || (rows.length === page.limit && (left > rows.length || !isWhole));
  return {
    rows,
    total,
    next:
      full && lastRow
        ? { after: wanted.keyOf(lastRow), offset: 0 }
        : isWhole || here.last === null
          ? undefined
          : { after: here.last, offset: Math.max(0, page.offset - here.matched) },
  };
}

/** Up to `limit` matching rows, down to the key `last`; where rows are large in steps, until a page of them is full. */
async function readRows<Row extends object, Key extends string | number>(
  sql: Sql,
  { table, key, keyOf, columns, ranges, filter, filterValues, page, sizeOf }: Wanted<Row, Key>,
  last: Key,
  limit: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  let characters = 0;
  const values = ranges.flatMap((range) => range.values);
  const own = ranges.map(({ where }) => `SELECT * FROM ${table} WHERE ${where}`).join(' UNION ALL ');
  const source = ranges.length === 1 ? `${table} WHERE ${ranges[0]?.where}` : `(${own}) AS own WHERE 1 = 1`;
  for (;;) {
    const before = rows.at(-1);
    const after = before ? keyOf(before) : page.after;
    const step = sizeOf ? Math.min(ROWS_PER_STEP, limit - rows.length) : limit;
    const found = await sql.all<Row>(
      `SELECT ${columns} FROM ${source}${after === undefined ? '' : ` AND ${key} < ?`} AND ${key} >= ?
       AND ${filter ?? '1 = 1'} ORDER BY ${key} DESC LIMIT ? OFFSET ?`,
      ...values,
      ...(after === undefined ? [] : [after]),
      last,
      ...filterValues,
      step,
      before ? 0 : page.offset,
    );
    rows.push(...found);
    if (sizeOf) for (const row of found) characters += sizeOf(row);
    if (rows.length >= limit || found.length < step || characters > PAGE_CHARACTERS) return rows;
  }
}
