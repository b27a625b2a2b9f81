import {
  FAR_AHEAD_MICROS,
  FIRST_MICROS,
  floorOf,
  HIGHEST_FLOOR,
  LONG_STEP,
  type NewLife,
  type Raised,
  STEP,
} from '../number-floor.ts';
import type { Connection } from './connection.ts';
import { ConnectionLost } from './trouble.ts';

/** The database that a connection has reached. */
export interface DatabaseIdentity {
  /**
   * Identifiers of the server's data, of its timeline, and of the database in it: they change with a restore or a promotion.
   */
  place: string;
  /** The time at which the server was started. */
  since: string;
  /**
   * The position in the server's log that is on the disk. If it is lower than before, the database was set back. 0 if the
   * server hides it.
   */
  log: number;
}

/**
 * Tells whether a connection has reached another database than before, or the same one after a restart of its server.
 * Undefined when it has reached the same one, without a restart, so that its numbers need not be raised.
 */
export function changeOf(
  before: DatabaseIdentity,
  at: DatabaseIdentity,
): 'other_database' | 'server_start' | undefined {
  if (at.place !== before.place || at.log < before.log) return 'other_database';
  return at.since === before.since ? undefined : 'server_start';
}

const SINCE = `(SELECT oid::text FROM pg_database WHERE datname = current_database()) AS oid,
  extract(epoch FROM pg_postmaster_start_time())::text AS since`;
// The timeline that is being written is asked for; the one of the last checkpoint may be out of date.
const FULL = `SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system,
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline,
  pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::float8 AS log, ${SINCE}`;
const REDUCED = `SELECT '' AS system, '' AS timeline, 0::float8 AS log, ${SINCE}`;

type Ask = <Row>(text: string) => Promise<Row[]>;

/**
 * Asks a connection which database it has reached. If the server hides some of the answers, at least the database and the
 * server's start are known.
 */
export async function readIdentity(ask: Ask): Promise<DatabaseIdentity> {
  type Row = { system: string; timeline: string; log: number; oid: string; since: string };
  const [row] = await ask<Row>(FULL).catch((cause: unknown) => {
    if (cause instanceof ConnectionLost) throw cause;
    return ask<Row>(REDUCED);
  });
  if (!row) throw new Error('the database does not say which one it is');
  return { place: `${row.system}/${row.timeline}/${row.oid}`, since: row.since, log: row.log };
}

export const identityThrough = (connection: Connection): Promise<DatabaseIdentity> =>
  readIdentity(async <Row>(text: string) => (await connection.query(text)).rows as Row[]);

/**
 * The advisory lock under which sequences are raised, so that no node sets a sequence back that another node has just
 * raised.
 */
const LOCK = 0x1a9e2;

// Raises all sequences as raisedFrom (number-floor.ts) raises one number, by the later of the node's and the server's
// clock. Between its reading and its setting of a sequence, nextval may give out numbers; they are far fewer than the
// step that is added.
const RAISE = `SELECT sequencename::text AS name,
    setval(format('%I.%I', schemaname, sequencename)::regclass, GREATEST(last, floor) +
      CASE WHEN last > floor + ${FAR_AHEAD_MICROS} THEN ${LONG_STEP} ELSE ${STEP} END) AS to
  FROM (SELECT schemaname, sequencename, COALESCE(last_value, 0) AS last,
      LEAST(${HIGHEST_FLOOR}, GREATEST(CAST(? AS BIGINT),
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - ${FIRST_MICROS})) AS floor
    FROM pg_sequences WHERE schemaname = current_schema()) AS found`;

const KEEP = `INSERT INTO lives (one, life_id, place, begun_at) VALUES (1, ?, ?, ?)
  ON CONFLICT (one) DO UPDATE SET life_id = excluded.life_id, place = excluded.place, begun_at = excluded.begun_at`;

interface Beginning extends NewLife {
  connection: Connection;
  at: DatabaseIdentity;
  /** Undefined when the process has just started. */
  before?: DatabaseIdentity | undefined;
}

/**
 * The reason of a raise. `former`: the `place` that was stored at the last start of any node; '' when none was stored
 * yet.
 */
const reasonOf = (former: string, at: DatabaseIdentity, before: DatabaseIdentity | undefined): Raised['reason'] => {
  if (before) return changeOf(before, at) ?? 'server_start';
  return former !== '' && former !== at.place ? 'other_database' : 'start';
};

/**
 * Called at a start, and when the service has reached another database than before. The database may be a copy or a
 * backup, which does not know the numbers that the original gave out later. So this raises all sequences above any number
 * that either of them has given out. Returns the raise; undefined for a new database, which has given out no numbers.
 */
export async function beginLife(beginning: Beginning): Promise<Raised | undefined> {
  const { connection, at, lifeId, nowMicros, before } = beginning;
  await connection.script('BEGIN');
  try {
    await connection.query('SELECT pg_advisory_xact_lock(?)', LOCK);
    const { rows: lives } = await connection.query('SELECT place FROM lives');
    const [former] = lives as { place: string }[];
    const raised =
      former === undefined
        ? []
        : ((await connection.query(RAISE, floorOf(nowMicros))).rows as { name: string; to: number }[]);
    await connection.query(KEEP, lifeId, at.place, nowMicros);
    await connection.script('COMMIT');
    if (former === undefined) return undefined;
    const { to = 0 } = raised.find(({ name }) => name.startsWith('transactions_')) ?? {};
    return { reason: reasonOf(former.place, at, before), lifeId, to };
  } catch (cause) {
    if (connection.alive()) await connection.script('ROLLBACK').catch(() => undefined);
    throw cause;
  }
}

/** Returns the reason with which the next start would raise the numbers. Changes nothing. */
export async function judgeLife(connection: Connection): Promise<Raised['reason']> {
  const { rows } = await connection.query('SELECT place FROM lives');
  const [former] = rows as { place: string }[];
  return reasonOf(former?.place ?? '', await identityThrough(connection), undefined);
}
