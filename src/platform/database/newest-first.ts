import type { Sql, SqlValue } from './sql.ts';

/** A page of rows, the newest first, or the oldest. */
export interface NewestPage<Row> {
  rows: Row[];
  /** The number of rows that match; null when counting them would need more rows than a page may examine. */
  total: number | null;
  /** The start of the next page: after the key `after`, skipping `offset` matching rows; undefined on the last page. */
  next: { after: string | number; offset: number } | undefined;
}

/** The start and the length of a page: after the row with the key `after`, skipping `offset` matching rows. */
export interface PageQuery<Key extends string | number> {
  after?: Key;
  offset: number;
  limit: number;
}

interface Wanted<Row, Key extends string | number> {
  table: string;
  /** The column by which rows are ordered. It rises with time, and an index has it for the rows of each range. */
  key: string;
  keyOf(row: Row): Key;
  /** The selected columns, with their aliases. */
  columns: string;
  /** The ranges that hold the rows, such as an owner's. An index orders each range by the key; no row is in two ranges. */
  ranges: readonly { where: string; values: readonly SqlValue[] }[];
  /** The SQL condition that rows must meet, tested row by row; null for all rows. */
  filter: string | null;
  filterValues: readonly SqlValue[];
  page: PageQuery<Key>;
  /** True for the opposite order: the rows of the lowest keys first. */
  oldestFirst?: boolean | undefined;
  /** The number of rows that a page may examine, if it differs from the default; the total is then null. */
  mostExamined?: number | undefined;
  /** The size of a row in characters, when rows can be large; without it, pages have no bound of size. */
  sizeOf?(row: Row): number;
}

// Rows that one page examines: with a filter each row is fetched, without one only the index is read. Both take a few
// milliseconds of the event loop, however many rows the table has.
const FILTERED = 2_000;
const COUNTED = 10_000;

/** Characters after which a page ends, so that one caller who reads large rows does not delay all others. */
export const PAGE_CHARACTERS = 4 * 1024 * 1024;
const ROWS_PER_STEP = 50;

interface Seen<Key> {
  seen: number;
  matched: number;
  last: Key | null;
}

/** How a list is read in an order: rows behind a key, the last key of some, and rows up to a key. */
const waysOf = (oldestFirst = false) =>
  oldestFirst
    ? ({ behind: '>', direction: 'ASC', last: 'MAX', upTo: '<=' } as const)
    : ({ behind: '<', direction: 'DESC', last: 'MIN', upTo: '>=' } as const);

/**
 * Reads a page by key, so that each page costs the same, and examines a bounded number of rows. A page can therefore be
 * shorter than its limit, or even empty, and still have a next page.
 */
export async function newestFirst<Row extends object, Key extends string | number>(
  sql: Sql,
  wanted: Wanted<Row, Key>,
): Promise<NewestPage<Row>> {
  const { table, key, ranges, page } = wanted;
  const { behind, direction, last } = waysOf(wanted.oldestFirst);
  const filter = wanted.filter ?? '1 = 1';
  const bound = wanted.mostExamined ?? (wanted.filter === null ? COUNTED : FILTERED);
  const begin = page.after === undefined ? '' : ` AND ${key} ${behind} ?`;
  const windows = (start: string): string[] =>
    ranges.map(
      ({ where }, index) =>
        `(SELECT ${key} AS seen_key, CASE WHEN ${filter} THEN 1 ELSE 0 END AS hit FROM ${table}
        WHERE ${where}${start} ORDER BY ${key} ${direction} LIMIT ${bound}) AS seen_${index}`,
    );
  // Several ranges of rows are each cut to the limit before they are merged; PostgreSQL would otherwise sort all of their
  // rows.
  const windowOf = (start: string): string => {
    const [first = '', ...more] = windows(start);
    if (more.length === 0) return first;
    const all = [first, ...more].map((window) => `SELECT seen_key, hit FROM ${window}`).join(' UNION ALL ');
    return `(SELECT seen_key, hit FROM (${all}) AS seen_all ORDER BY seen_key ${direction} LIMIT ${bound}) AS seen_rows`;
  };
  const examine = async (start: string, startValues: readonly SqlValue[]): Promise<Seen<Key>> => {
    const found = await sql.get<Seen<Key>>(
      `SELECT count(*) AS seen, COALESCE(SUM(hit), 0) AS matched, ${last}(seen_key) AS last FROM ${windowOf(start)}`,
      ...ranges.flatMap(({ values }) => [...wanted.filterValues, ...values, ...startValues]),
    );
    return found ?? { seen: 0, matched: 0, last: null };
  };

  const after = page.after === undefined ? [] : [page.after];
  const here = await examine(begin, after);
  const top = page.after === undefined || wanted.mostExamined !== undefined ? here : await examine('', []);
  const total = top.seen < bound && wanted.mostExamined === undefined ? top.matched : null;
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

/** Reads up to `limit` matching rows, as far as the key `last`. Large rows are read in steps, until a page is full. */
async function readRows<Row extends object, Key extends string | number>(
  sql: Sql,
  { table, key, keyOf, columns, ranges, filter, filterValues, page, oldestFirst, sizeOf }: Wanted<Row, Key>,
  last: Key,
  limit: number,
): Promise<Row[]> {
  const { behind, direction, upTo } = waysOf(oldestFirst);
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
      `SELECT ${columns} FROM ${source}${after === undefined ? '' : ` AND ${key} ${behind} ?`} AND ${key} ${upTo} ?
       AND ${filter ?? '1 = 1'} ORDER BY ${key} ${direction} LIMIT ? OFFSET ?`,
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
