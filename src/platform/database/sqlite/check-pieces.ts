import type { Sql, SqlValue } from '../sql.ts';

/** A b-tree of the file, and the columns along which it is read. */
interface Tree {
  /** The name of the b-tree for people, such as `table transactions`. */
  what: string;
  from: string;
  /** The condition that all of its rows meet: that of a partial index, or `1 = 1`. */
  where: string;
  /**
   * The columns by which the b-tree is ordered, so that it can be read in pieces. Null when it cannot, and is read at
   * once.
   */
  key: string[] | null;
  /** The columns whose values are read. */
  columns: string[];
}

interface Sizes {
  /** Tables with at most this many rows are checked in one piece, by SQLite's own check. */
  wholeUpTo?: number;
  rowsPerPiece?: number;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const UNREADABLE = /^SQLITE_(CORRUPT|NOTADB|IOERR)/;

/** The file is damaged; the message says where. */
export class DamageError extends Error {}

/**
 * Reads the whole database file, and yields after each piece: a small table, or some rows of a large table or of one of its
 * indexes. Each piece is a transaction of its own, so a check that takes hours never prevents the write-ahead log from
 * being emptied. Throws a DamageError at the first piece that cannot be read.
 */
export async function* checkPieces(sql: Sql, { wholeUpTo = 20_000, rowsPerPiece = 2_000 }: Sizes = {}) {
  const tables = await sql.all<{ name: string; wr: number }>(
    `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema' ORDER BY name`,
  );
  for (const { name, wr } of tables) {
    const what = `table ${name}`;
    const few = `SELECT count(*) AS rows FROM (SELECT 1 FROM ${quoted(name)} LIMIT ${wholeUpTo + 1})`;
    const seen = await read<{ rows: number }>(sql, what, few);
    if ((seen?.rows ?? 0) <= wholeUpTo) {
      const found = await read<{ quick_check: string }>(sql, what, `PRAGMA quick_check(${quoted(name)})`);
      if (found?.quick_check !== 'ok') throw new DamageError(`${what}: ${found?.quick_check}`);
      yield what;
    } else for (const tree of await treesOf(sql, name, wr === 1)) yield* walk(sql, tree, rowsPerPiece);
  }
}

async function read<Row>(sql: Sql, what: string, text: string, ...values: SqlValue[]): Promise<Row | undefined> {
  try {
    return await sql.get<Row>(text, ...values);
  } catch (cause) {
    if (!UNREADABLE.test((cause as { code?: string }).code ?? '')) throw cause;
    throw new DamageError(`${what}: ${(cause as Error).message}`, { cause });
  }
}

async function treesOf(sql: Sql, table: string, withoutRowid: boolean): Promise<Tree[]> {
  const columns = await sql.all<{ name: string; type: string; notnull: number; pk: number }>(
    'SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY pk',
    table,
  );
  const primary = columns.filter(({ pk }) => pk > 0);
  const [number] = primary.length === 1 && primary[0]?.type === 'INTEGER' ? primary : [];
  const ownKey = withoutRowid ? primary.map(({ name }) => name) : [number?.name ?? 'rowid'];
  const required = new Set(columns.filter((column) => column.notnull === 1).map(({ name }) => name));
  for (const name of ownKey) required.add(name);
  const own: Tree = {
    what: `table ${table}`,
    from: quoted(table),
    where: '1 = 1',
    key: ownKey,
    columns: columns.map(({ name }) => name),
  };
  const indexes = await sql.all<{ name: string; text: string | null }>(
    `SELECT l.name, s.sql AS text FROM pragma_index_list(?) l JOIN sqlite_schema s ON s.name = l.name
     WHERE l.origin <> 'pk' OR ? = 0`,
    table,
    withoutRowid ? 1 : 0,
  );
  const trees = [own];
  for (const { name, text } of indexes) {
    const parts = await sql.all<{ name: string | null; desc: number }>(
      'SELECT name, "desc" FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno',
      name,
    );
    // Rows can only be compared by several columns at once if none is null and all have the same direction.
    const names = parts.map((part) => part.name ?? '');
    const follows = parts.every(({ desc }, at) => desc === 0 && required.has(names[at] ?? ''));
    trees.push({
      what: `index ${name}`,
      from: `${quoted(table)} INDEXED BY ${quoted(name)}`,
      where: /\bWHERE\b(.*)$/is.exec(text ?? '')?.[1]?.trim() ?? '1 = 1',
      key: follows ? [...names, ...ownKey.filter((one) => !names.includes(one))] : null,
      columns: follows ? names : [],
    });
  }
  return trees;
}

async function* walk(sql: Sql, { what, from, where, key, columns }: Tree, rows: number) {
  if (!key) {
    await read(sql, what, `SELECT count(*) AS n FROM ${from} WHERE ${where}`);
    yield what;
    return;
  }
  const names = key.map((name) => (name === 'rowid' ? name : quoted(name))).join(', ');
  const marks = key.map(() => '?').join(', ');
  // SQLite knows the length of a text only after reading all of it.
  const all = columns.map((name) => `total(length(${quoted(name)}))`).join(' + ');
  let after: SqlValue[] = [];
  for (;;) {
    const begin = after.length > 0 ? ` AND (${names}) > (${marks})` : '';
    const end: Record<string, SqlValue> | undefined = await read(
      sql,
      what,
      `SELECT ${names} FROM ${from} WHERE (${where})${begin} ORDER BY ${names} LIMIT 1 OFFSET ${rows - 1}`,
      ...after,
    );
    const last = end ? Object.values(end) : [];
    const until = end ? ` AND (${names}) <= (${marks})` : '';
    await read(sql, what, `SELECT ${all} AS n FROM ${from} WHERE (${where})${begin}${until}`, ...after, ...last);
    yield what;
    if (!end) return;
    after = last;
  }
}
