import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Client, types } from 'pg';
import type { Test } from 'tap';

type Value = string | number | Buffer | null;

/** Reads and changes the service's database directly, over a connection of the test. */
export interface RawDatabase {
  /** Parameters are `?`. */
  all<Row extends object>(text: string, ...values: Value[]): Promise<Row[]>;
  /** Statements without parameters. */
  exec(script: string): Promise<void>;
  /**
   * Makes writes of one kind fail (`INSERT ON transactions`), as a full disk would; the returned function undoes this.
   */
  breakWrites(what: string): Promise<() => Promise<void>>;
  /** Carries out a statement in each unit of work that writes so (`INSERT ON rollouts`), as if another one came first. */
  afterWrites(what: string, statement: string): Promise<void>;
}

const INT8 = 20;

function openFile(t: Test, dataDir: string): RawDatabase {
  const file = new Sqlite(join(dataDir, 'lapel.db'), { timeout: 5000 });
  t.teardown(() => file.close());
  return {
    async all<Row extends object>(text: string, ...values: Value[]) {
      const statement = file.prepare(text);
      if (statement.reader) return statement.all(...values) as Row[];
      statement.run(...values);
      return [];
    },
    async exec(script) {
      file.exec(script);
    },
    async breakWrites(what) {
      file.exec(`CREATE TRIGGER broken BEFORE ${what} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
      return async () => void file.exec('DROP TRIGGER broken');
    },
    async afterWrites(what, statement) {
      file.exec(`CREATE TRIGGER also AFTER ${what} BEGIN ${statement}; END`);
    },
  };
}

async function openServer(t: Test, connectionString: string): Promise<RawDatabase> {
  const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : types.getTypeParser(oid, format as 'text');
  const client = new Client({
    connectionString,
    types: { getTypeParser: getTypeParser as typeof types.getTypeParser },
  });
  client.on('error', () => undefined);
  await client.connect();
  t.teardown(() => client.end());
  return {
    async all(text, ...values) {
      let number = 0;
      const numbered = text.replaceAll('?', () => {
        number += 1;
        return `$${number}`;
      });
      return (await client.query(numbered, values)).rows;
    },
    async exec(script) {
      await client.query(script);
    },
    async breakWrites(what) {
      await client.query(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''the disk is full''; END'`);
      await client.query(`CREATE TRIGGER broken BEFORE ${what} FOR EACH ROW EXECUTE FUNCTION broken()`);
      return async () => void (await client.query('DROP FUNCTION broken CASCADE'));
    },
    async afterWrites(what, statement) {
      await client.query(`CREATE FUNCTION also() RETURNS trigger LANGUAGE plpgsql
        AS $also$ BEGIN ${statement}; RETURN NULL; END $also$`);
      await client.query(`CREATE TRIGGER also AFTER ${what} FOR EACH ROW EXECUTE FUNCTION also()`);
    },
  };
}

/**
 * Opens the database of a service: that of the server, or the file in its data folder. The connection ends with the
 * test.
 */
export const openRaw = async (t: Test, dataDir: string, url: string | null): Promise<RawDatabase> =>
  url === null ? openFile(t, dataDir) : openServer(t, url);
