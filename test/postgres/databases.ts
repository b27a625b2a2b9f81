import { join } from 'node:path';
import type { Test } from 'tap';
import { findPostgres, type PostgresServer, startPostgres } from '../../harness/postgres-server.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/** Why tests on PostgreSQL are left out; false where it is installed. */
export const NO_POSTGRES = findPostgres() === undefined && 'PostgreSQL is not installed (.ci/install-postgres)';

/** On which database whole-ring tests run, unless they say it: LAPEL_TEST_DATABASE, or SQLite. */
export const usualDatabase = (process.env['LAPEL_TEST_DATABASE'] ?? 'sqlite') as DatabaseKind;

/** A server of a test's own. Its data are copied from those of the first one that was ever started here. */
export const startTestPostgres = (): Promise<PostgresServer> =>
  startPostgres({
    kept: join(import.meta.dirname, '../../.tap', `data${(findPostgres() ?? '').replaceAll('/', '-')}`),
  });

interface Own {
  server: PostgresServer;
  template: string;
}

let own: Promise<Own> | undefined;

/** The server of this test's process, with a database in which all migrations were made. It ends with the process. */
async function start(): Promise<Own> {
  const server = await startTestPostgres();
  const template = 'template_lapel';
  const database = await openPostgres({ url: await server.createDatabase(template), nowMicros: 0 });
  await database.close();
  return { server, template };
}

/** By data folder, so that who starts on the same folder again finds the same database. */
const ofFolders = new Map<string, Promise<string>>();

/** The database that belongs to a data folder; a new one for a new folder. */
export function databaseOf(t: Test, dataDir: string): Promise<string> {
  const known = ofFolders.get(dataDir);
  if (known !== undefined) return known;
  const made = createDatabase(t);
  ofFolders.set(dataDir, made);
  t.teardown(() => ofFolders.delete(dataDir)); // the folder goes as well: a test of the same name makes another one
  return made;
}

/** A database without tables; it goes with the test. Answers its URL. */
export async function createEmptyDatabase(t: Test): Promise<string> {
  own ??= start();
  const { server } = await own;
  const url = await server.createDatabase();
  t.teardown(() => server.dropDatabase(new URL(url).pathname.slice(1)));
  return url;
}

/** Keeps a database as it is, while nobody is connected; the function returned sets it back, also while somebody is. */
export async function keepDatabase(t: Test, url: string): Promise<() => Promise<void>> {
  own ??= start();
  const { server } = await own;
  const name = new URL(url).pathname.slice(1);
  const kept = `${name}_kept`;
  await server.createDatabase(kept, name);
  t.teardown(() => server.dropDatabase(kept));
  return async () => {
    await server.dropDatabase(name);
    await server.createDatabase(name, kept);
  };
}

/** An empty database of the newest version; it goes with the test. Answers its URL. */
export async function createDatabase(t: Test): Promise<string> {
  own ??= start();
  const { server, template } = await own;
  const url = await server.createDatabase(undefined, template);
  t.teardown(() => server.dropDatabase(new URL(url).pathname.slice(1)));
  return url;
}
