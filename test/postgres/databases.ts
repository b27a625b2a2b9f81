import { join } from 'node:path';
import { findPostgres, type PostgresServer, startPostgres } from '@lapel/tools/harness/postgres-server';
import { Client } from 'pg';
import type { Test } from 'tap';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import { missing } from '../installed.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/** The reason to skip tests on PostgreSQL; false where it is installed. */
export const NO_POSTGRES = missing.postgres();

/** The default database of whole-ring tests: LAPEL_TEST_DATABASE, or SQLite. */
export const usualDatabase = (process.env['LAPEL_TEST_DATABASE'] ?? 'sqlite') as DatabaseKind;

/** A server for one test. Its data is a copy of that of the first server that was ever started here. */
export const startTestPostgres = (): Promise<PostgresServer> =>
  startPostgres({
    kept: join(import.meta.dirname, '../../.tap', `data${(findPostgres() ?? '').replaceAll('/', '-')}`),
  });

interface Own {
  server: PostgresServer;
  template: string;
}

let own: Promise<Own> | undefined;

/** The server of this test process, with a migrated database. It ends with the process. */
async function start(): Promise<Own> {
  const server = await startTestPostgres();
  const template = 'template_lapel';
  const database = await openPostgres({ url: await server.createDatabase(template), nowMicros: 0 });
  await database.close();
  return { server, template };
}

/** By data folder, so that a second start on the same folder finds the same database. */
const ofFolders = new Map<string, Promise<string>>();

/** The database for a data folder; a new one for a new folder. */
export function databaseOf(t: Test, dataDir: string): Promise<string> {
  const known = ofFolders.get(dataDir);
  if (known !== undefined) return known;
  const made = createDatabase(t);
  ofFolders.set(dataDir, made);
  // The folder is removed as well, and a test of the same name makes another one.
  t.teardown(() => ofFolders.delete(dataDir));
  return made;
}

/** A database without tables, which is removed after the test; resolves to its URL. */
export async function createEmptyDatabase(t: Test): Promise<string> {
  own ??= start();
  const { server } = await own;
  const url = await server.createDatabase();
  t.teardown(() => server.dropDatabase(new URL(url).pathname.slice(1)));
  return url;
}

/** Saves a database; the returned function restores it. Both end the connections of all clients. */
export async function keepDatabase(t: Test, url: string): Promise<() => Promise<void>> {
  own ??= start();
  const { server } = await own;
  const name = new URL(url).pathname.slice(1);
  const kept = `${name}_kept`;
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
  await server.createDatabase(kept, name);
  t.teardown(() => server.dropDatabase(kept));
  return async () => {
    await server.dropDatabase(name);
    await server.createDatabase(name, kept);
  };
}

/** An empty database of the newest version, which is removed after the test; resolves to its URL. */
export async function createDatabase(t: Test): Promise<string> {
  own ??= start();
  const { server, template } = await own;
  const url = await server.createDatabase(undefined, template);
  t.teardown(() => server.dropDatabase(new URL(url).pathname.slice(1)));
  return url;
}
