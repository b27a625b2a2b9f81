import { systemClock } from '../../../runtime/clock.ts';
import { atHosts, placeOf } from '../../../runtime/database-hosts.ts';
import type { Micros } from '../../../runtime/units.ts';
import { type DatabaseState, FAILING, type FailingReceiver, LATEST } from '../database-state.ts';
import { type Connection, openConnection, SHORT } from './connection.ts';
import { judgeLife } from './database-identity.ts';
import { missingMigrations } from './migrations.ts';
import { checkSettings } from './server-check.ts';

interface Examined {
  /** The version and the place of the database, such as `PostgreSQL 15.13 at db.example:5432/lapel`. */
  name: string;
  /** The size of the database; undefined when it cannot be reached. */
  bytes: number | undefined;
  /** The number of migrations that the next start will apply. */
  missing: number;
  /** The faults, in words for people; empty when the database can be used. */
  faults: string[];
  /** Further notes for the operator. */
  notes: string[];
  /** The state of time and of receivers in the database; undefined when there is none yet. */
  state?: DatabaseState;
  /** Microseconds by which the clock of the server is ahead of this machine's; negative when it is behind. */
  ahead?: number;
}

async function notesOn(connection: Connection): Promise<string[]> {
  const { rows } = await connection.query(`SELECT to_regclass('lives') IS NOT NULL AS made`);
  if (!(rows[0] as { made: boolean }).made) return []; // not migrated yet
  const reason = await judgeLife(connection);
  return reason === 'start'
    ? []
    : [
        'this is another database than at the last start: restored, promoted or copied; the next start goes on with higher numbers',
      ];
}

/** The difference of the clocks, as far as half of a round trip allows to know it. */
async function aheadOf(connection: Connection, now: () => Micros): Promise<number> {
  const before = now();
  const { rows } = await connection.query(`SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::float8 AS at`);
  return (rows[0] as { at: number }).at - (before + now()) / 2;
}

async function stateOf(connection: Connection): Promise<DatabaseState> {
  const latest = (await connection.query(LATEST)).rows as { created_at: number }[];
  const failing = (await connection.query(FAILING)).rows as (FailingReceiver & { deliveries: number | string })[];
  return {
    latestAt: latest.length === 0 ? null : Number(latest[0]?.created_at),
    failing: failing.map((row) => ({ ...row, deliveries: Number(row.deliveries) })),
  };
}

/** Examines a PostgreSQL database with the checks of a start, without changing anything. `now` is the clock of this machine. */
export async function examinePostgres(url: string, now: () => Micros = systemClock.now): Promise<Examined> {
  const examined: Examined = {
    name: `PostgreSQL at ${placeOf(url)}`,
    bytes: undefined,
    missing: 0,
    faults: [],
    notes: [],
  };
  try {
    // No function for a lost connection is needed, because the loss rejects the pending query.
    const open = (host: string) => openConnection(host, { ...SHORT, readOnly: true }, () => undefined);
    const connection = await atHosts(url)(open);
    try {
      await checkSettings(connection);
      const { rows } = await connection.query(
        `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
           to_regclass('migrations') IS NOT NULL AS made`,
      );
      const [{ version, bytes, made }] = rows as [{ version: string; bytes: number; made: boolean }];
      const name = `PostgreSQL ${version} at ${placeOf(url)}`;
      const missing = made ? (await missingMigrations(connection)).length : 0;
      return {
        ...examined,
        notes: made ? await notesOn(connection) : [],
        name,
        bytes: made ? bytes : 0,
        missing,
        ahead: await aheadOf(connection, now),
        ...(made && missing === 0 && { state: await stateOf(connection) }),
      };
    } finally {
      await connection.end();
    }
  } catch (error) {
    return { ...examined, faults: [(error as Error).message || String((error as { code?: string }).code)] };
  }
}
