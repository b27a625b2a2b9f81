import {
  FAR_AHEAD,
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

/** Which database this is. */
export interface Place {
  /** The cluster of databases, its timeline, and the database in it: another one after a restore or a promotion. */
  place: string;
  /** When its server was started. */
  since: string;
  /** How far its log is on the disk; lower than before: it is an earlier moment of the same place. 0 where nobody tells. */
  log: number;
}

/** What has happened to a database since it was looked at; undefined: nothing that numbers would have to be raised for. */
export function changeOf(before: Place, at: Place): 'other_database' | 'server_start' | undefined {
  if (at.place !== before.place || at.log < before.log) return 'other_database';
  return at.since === before.since ? undefined : 'server_start';
}

const SINCE = `(SELECT oid::text FROM pg_database WHERE datname = current_database()) AS oid,
  extract(epoch FROM pg_postmaster_start_time())::text AS since`;
// The timeline that is being written, which the last checkpoint need not know yet.
const WHOLE = `SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system,
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline,
  pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::float8 AS log, ${SINCE}`;
const REST = `SELECT '' AS system, '' AS timeline, 0::float8 AS log, ${SINCE}`;

type Ask = <Row>(text: string) => Promise<Row[]>;

/** Where a connection has led to. A server that keeps some of it to itself says less: the time of its start at least. */
export async function readPlace(ask: Ask): Promise<Place> {
  type Row = { system: string; timeline: string; log: number; oid: string; since: string };
  const [row] = await ask<Row>(WHOLE).catch((cause: unknown) => {
    if (cause instanceof ConnectionLost) throw cause;
    return ask<Row>(REST);
  });
  if (!row) throw new Error('the database does not say which one it is');
  return { place: `${row.system}/${row.timeline}/${row.oid}`, since: row.since, log: row.log };
}

export const placeThrough = (connection: Connection): Promise<Place> =>
  readPlace(async <Row>(text: string) => (await connection.query(text)).rows as Row[]);

/** Of who raises numbers: one after another, so that none sets back what another one has raised. */
const LOCK = 0x1a9e2;

// See raisedFrom; by the later of the two clocks. Nothing else is written to a sequence than by nextval, whose numbers in the
// moment between the look and the setting are far less than the step.
const RAISE = `SELECT sequencename::text AS name,
    setval(format('%I.%I', schemaname, sequencename)::regclass, GREATEST(last, floor) +
      CASE WHEN last > floor + ${FAR_AHEAD} THEN ${LONG_STEP} ELSE ${STEP} END) AS to
  FROM (SELECT schemaname, sequencename, COALESCE(last_value, 0) AS last,
      LEAST(${HIGHEST_FLOOR}, GREATEST(CAST(? AS BIGINT),
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - ${FIRST_MICROS})) AS floor
    FROM pg_sequences WHERE schemaname = current_schema()) AS found`;

const KEEP = `INSERT INTO lives (one, life_id, place, begun_at) VALUES (1, ?, ?, ?)
  ON CONFLICT (one) DO UPDATE SET life_id = excluded.life_id, place = excluded.place, begun_at = excluded.begun_at`;

interface Beginning extends NewLife {
  connection: Connection;
  at: Place;
  /** Undefined: the process has just started. */
  before?: Place | undefined;
}

/** `former`: where the database was at the last start of anybody; '' when that was not kept. */
const reasonOf = (former: string, at: Place, before: Place | undefined): Raised['reason'] => {
  if (before) return changeOf(before, at) ?? 'server_start';
  return former !== '' && former !== at.place ? 'other_database' : 'start';
};

/**
 * A start, or a connection to another database than before: the numbers go on above all that were ever given out of this
 * database, or of one that it is a copy or an earlier moment of. Answers what was raised; undefined for a new database, out of
 * which nothing was given.
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

/** What the next start would find. Changes nothing. */
export async function judgeLife(connection: Connection): Promise<Raised['reason']> {
  const { rows } = await connection.query('SELECT place FROM lives');
  const [former] = rows as { place: string }[];
  return reasonOf(former?.place ?? '', await placeThrough(connection), undefined);
}
