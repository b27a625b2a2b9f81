import type { Sql } from '../sql.ts';
import type { Connection } from './connection.ts';
import { Unfit } from './unfit-server.ts';

interface Found {
  version: number;
  commits: string;
  fsync: string;
  whole: string;
  standbys: string;
  isolation: string;
  encoding: string;
  standby: boolean;
}

const SETTINGS = `SELECT current_setting('server_version_num')::int AS version, current_setting('synchronous_commit') AS commits,
  current_setting('fsync') AS fsync, current_setting('full_page_writes') AS whole,
  current_setting('synchronous_standby_names') AS standbys, current_setting('default_transaction_isolation') AS isolation,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby`;

const OLDEST = 140_000;

/**
 * The settings that the service's promises depend on, each with the error for another value; the first broken rule is
 * reported.
 */
const RULES: readonly [holds: (found: Found) => boolean, said: (found: Found) => string][] = [
  [
    ({ version }) => version >= OLDEST,
    ({ version }) => `PostgreSQL ${Math.floor(version / 10_000)} is too old: it must be 14 or newer`,
  ],
  [
    ({ commits }) => commits !== 'off',
    () => 'PostgreSQL has synchronous_commit = off: a commit must be on the disk before anyone is answered',
  ],
  [
    ({ commits, standbys }) => commits !== 'local' || standbys === '',
    () =>
      'PostgreSQL has synchronous_commit = local and synchronous_standby_names: a standby that takes over would lack commits',
  ],
  [
    ({ fsync }) => fsync === 'on',
    () => 'PostgreSQL has fsync = off: a commit must be on the disk before anyone is answered',
  ],
  [({ whole }) => whole === 'on', () => 'PostgreSQL has full_page_writes = off: a crash could tear its pages'],
  [
    ({ isolation }) => isolation === 'read committed',
    ({ isolation }) =>
      `PostgreSQL has default_transaction_isolation = ${isolation} and keeps it: it must be read committed`,
  ],
  [
    ({ encoding }) => encoding === 'UTF8',
    ({ encoding }) => `PostgreSQL has server_encoding = ${encoding}: it must be UTF8`,
  ],
];

/**
 * Checks the settings that the service's promises depend on. Settings that a connection may choose were already set by it
 * (see `pin`), so a role or a database cannot override them. The way to commit is set here: to `commits`, which an earlier
 * connection found, or to the one that the server has, so that a change of its configuration has no effect later.
 * Returns it. Throws Unfit.
 */
export async function checkSettings(connection: Connection, commits?: string): Promise<string> {
  const wanted = commits === undefined ? `current_setting('synchronous_commit')` : `'${commits}'`;
  await connection.script(`SELECT set_config('synchronous_commit', ${wanted}, false)`);
  const { rows } = await connection.script(SETTINGS); // unprepared, because the kind of pooler is not known yet
  const [found] = rows as [Found];
  if (found.standby) throw new Error('this is a standby: it cannot be written');
  requireFit(found);
  return found.commits;
}

function requireFit(found: Found): void {
  const broken = RULES.find(([holds]) => !holds(found));
  if (broken) throw new Unfit(broken[1](found));
}

// The value that a connection has without its own choice: it follows a reload of the server's configuration.
const COMMITS_OF_SERVER = `SELECT reset_val AS commits FROM pg_settings WHERE name = 'synchronous_commit'`;

/**
 * Checks the settings of a server that is in use: they can be changed while it runs. Returns the way to commit that the
 * server has now, and that this service does not follow. Throws Unfit.
 */
export async function checkAgain(sql: Sql): Promise<string | undefined> {
  const [found, server] = await Promise.all([
    sql.get<Found>(SETTINGS),
    sql.get<{ commits: string }>(COMMITS_OF_SERVER),
  ]);
  if (found) requireFit(found);
  return server?.commits;
}

async function servedBy(connection: Connection): Promise<number> {
  const { rows } = await connection.script('SELECT pg_backend_pid() AS pid');
  return (rows as [{ pid: number }])[0].pid;
}

/** How often the processes behind two connections are compared: a pooler may give out server connections in turns. */
const TURNS = 8;

/**
 * Refuses a pooler that lets connections share server connections, because settings and prepared statements belong to one
 * server connection. If there is a pooler, the process that serves a connection is not the one that was stated at its start.
 * A second connection is then opened: in turns, each must be served by one process all the time, and not by the same one.
 * Throws Unfit.
 */
export async function checkPooler(connection: Connection, open: () => Promise<Connection>): Promise<void> {
  if (connection.process() === (await servedBy(connection))) return;
  const other = await open();
  try {
    const [first, second] = [new Set<number>(), new Set<number>()];
    for (let turn = 0; turn < TURNS; turn += 1) {
      first.add(await servedBy(connection));
      second.add(await servedBy(other));
    }
    if (first.size > 1 || second.size > 1 || [...first].some((one) => second.has(one)))
      throw new Unfit('the pooler before PostgreSQL shares its connections: it needs pool_mode = session');
  } finally {
    await other.end();
  }
}
