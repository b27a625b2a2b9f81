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
 * (see `pin`), so a role or a database cannot override them. Throws Unfit.
 */
export async function checkSettings(connection: Connection): Promise<void> {
  const { rows } = await connection.script(SETTINGS); // unprepared, because the kind of pooler is not known yet
  const [found] = rows as [Found];
  if (found.standby) throw new Error('this is a standby: it cannot be written');
  const broken = RULES.find(([holds]) => !holds(found));
  if (broken) throw new Unfit(broken[1](found));
}

async function servedBy(connection: Connection): Promise<number> {
  const { rows } = await connection.script('SELECT pg_backend_pid() AS pid');
  return (rows as [{ pid: number }])[0].pid;
}

/**
 * Refuses a pooler that lets connections share server connections, because settings and prepared statements belong to one
 * server connection. If there is a pooler, the process that serves a connection is not the one that was stated at its start.
 * A second connection is then opened, which must be served by another process than the first. Throws Unfit.
 */
export async function checkPooler(connection: Connection, open: () => Promise<Connection>): Promise<void> {
  if (connection.process() === (await servedBy(connection))) return;
  const other = await open();
  try {
    if ((await servedBy(other)) === (await servedBy(connection)))
      throw new Unfit('the pooler before PostgreSQL shares its connections: it needs pool_mode = session');
  } finally {
    await other.end();
  }
}
