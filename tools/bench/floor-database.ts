import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';

/** A write of the floor (the loop without rules, see floor.ts). It resolves with the number of the row. */
export type Write =
  | { kind: 'insert'; device: string; parameters: string }
  | { kind: 'settle'; id: number; status: string; body: string }
  | { kind: 'sent'; id: number };

/** The database of the floor. It commits all writes of one turn of the event loop together. */
export interface FloorDatabase {
  commit(writes: readonly Write[]): Promise<number[]>;
}

function openSqlite(folder: string): FloorDatabase {
  const database = new Sqlite(join(folder, 'floor.db'));
  database.pragma('journal_mode = wal');
  database.pragma('synchronous = FULL');
  database.exec(`CREATE TABLE transactions (id INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT, parameters TEXT, status TEXT);
    CREATE TABLE deliveries (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT)`);
  const insertTransaction = database.prepare(
    `INSERT INTO transactions (device, parameters, status) VALUES (?, ?, 'queued')`,
  );
  const updateTransaction = database.prepare('UPDATE transactions SET status = ? WHERE id = ?');
  const insertDelivery = database.prepare('INSERT INTO deliveries (body) VALUES (?)');
  const deleteDelivery = database.prepare('DELETE FROM deliveries WHERE id = ?');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const carryOut = (write: Write): number => {
    if (write.kind === 'insert') return Number(insertTransaction.run(write.device, write.parameters).lastInsertRowid);
    if (write.kind === 'sent') return deleteDelivery.run(write.id).changes;
    updateTransaction.run(write.status, write.id);
    return Number(insertDelivery.run(write.body).lastInsertRowid);
  };
  return {
    async commit(writes) {
      begin.run();
      const numbers = writes.map(carryOut);
      commit.run();
      return numbers;
    },
  };
}

/**
 * Writes as fast as PostgreSQL allows: the writes of one kind become one statement over arrays, and all statements of a
 * commit are sent together.
 */
async function openPostgres(url: string): Promise<FloorDatabase> {
  const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig);
  await client.connect();
  await client.query(`CREATE TABLE transactions (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, device TEXT,
      parameters TEXT, status TEXT) WITH (fillfactor = 50);
    CREATE TABLE deliveries (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body TEXT)`);
  const query = (name: string, text: string, values: unknown[]): Promise<number[]> =>
    client.query({ name, text, values, rowMode: 'array' }).then(({ rows }) => rows.map(([id]) => Number(id)));
  const texts = {
    insert: `INSERT INTO transactions (device, parameters, status)
      SELECT device, parameters, 'queued' FROM unnest($1::text[], $2::text[]) AS one (device, parameters) RETURNING id`,
    settle: `UPDATE transactions SET status = one.status FROM unnest($1::bigint[], $2::text[]) AS one (id, status)
      WHERE transactions.id = one.id`,
    deliver: 'INSERT INTO deliveries (body) SELECT * FROM unnest($1::text[]) RETURNING id',
    sent: 'DELETE FROM deliveries WHERE id = ANY ($1::bigint[])',
  };
  return {
    async commit(writes) {
      const inserts = writes.filter((write) => write.kind === 'insert');
      const settles = writes.filter((write) => write.kind === 'settle');
      const sent = writes.filter((write) => write.kind === 'sent');
      const done: Promise<number[]>[] = [query('begin', 'BEGIN', [])];
      let inserted: Promise<number[]> = Promise.resolve([]);
      let delivered: Promise<number[]> = Promise.resolve([]);
      if (inserts.length > 0) {
        const columns = [inserts.map(({ device }) => device), inserts.map(({ parameters }) => parameters)];
        inserted = query('insert', texts.insert, columns);
      }
      if (settles.length > 0) {
        done.push(query('settle', texts.settle, [settles.map(({ id }) => id), settles.map(({ status }) => status)]));
        delivered = query('deliver', texts.deliver, [settles.map(({ body }) => body)]);
      }
      if (sent.length > 0) done.push(query('sent', texts.sent, [sent.map(({ id }) => id)]));
      done.push(query('commit', 'COMMIT', []));
      const [transactions, deliveries] = await Promise.all([inserted, delivered, ...done]);
      const next = { insert: transactions.values(), settle: deliveries.values() };
      return writes.map(({ kind }) => (kind === 'sent' ? 0 : (next[kind].next().value ?? 0)));
    },
  };
}

/** Opens the database in a folder (SQLite), or at a URL (PostgreSQL). */
export const openFloorDatabase = (place: string): Promise<FloorDatabase> =>
  place.startsWith('postgres:') ? openPostgres(place) : Promise.resolve(openSqlite(place));
