import type { DeviceSelector } from '@lapel/schemas/contracts/types';
import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Place } from '../../platform/encryption/vault.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Actor, PauseReason, Plan, Rollout, RolloutState } from './rollout.ts';

type Row = Omit<Rollout, 'plan' | 'publishes' | 'drained'> & { plan: string; publishes: number; drained: number };

const COLUMNS = `rollout_id AS "rolloutId", application_id AS "applicationId", label, operation, subject, plan, state, reason,
  publishes, drained, stage, stage_since AS "stageSince", share_since AS "shareSince", approved, devices, entries,
  created_at AS "createdAt", started_at AS "startedAt", ended_at AS "endedAt"`;

const toRollout = (row: Row): Rollout => ({
  ...row,
  plan: JSON.parse(row.plan) as Plan,
  publishes: row.publishes !== 0,
  drained: row.drained !== 0,
});

/** Finds a rollout. A unit of work whose decision depends on it passes `lock`, its `forUpdate`. */
export async function findRollout(sql: Sql, rolloutId: string, lock: Lock = ''): Promise<Rollout | undefined> {
  const row = await sql.get<Row>(`SELECT ${COLUMNS} FROM rollouts WHERE rollout_id = ?${lock}`, rolloutId);
  return row && toRollout(row);
}

const placeOf = (rolloutId: string): Place => ['rollouts', 'asked', rolloutId];

/** The body of the operation that a rollout carries out; undefined once the rollout has ended. */
export async function findAsked(sql: Sql, rolloutId: string): Promise<unknown> {
  const row = await sql.get<{ asked: string | null }>('SELECT asked FROM rollouts WHERE rollout_id = ?', rolloutId);
  return row?.asked == null ? undefined : JSON.parse(sql.vault.open(placeOf(rolloutId), row.asked));
}

/** The selector of a rollout. It is read by itself, because it can name thousands of devices. */
export async function findSelector(sql: Sql, rolloutId: string): Promise<DeviceSelector> {
  const row = await sql.get<{ selector: string }>('SELECT selector FROM rollouts WHERE rollout_id = ?', rolloutId);
  return JSON.parse(row?.selector ?? '{}') as DeviceSelector;
}

export async function insertRollout(
  unit: UnitOfWork,
  rollout: Rollout,
  { asked, selector }: { asked: unknown; selector: DeviceSelector },
): Promise<void> {
  const { rolloutId, applicationId, label, operation, subject, plan, state, createdAt, devices } = rollout;
  await unit.run(
    `INSERT INTO rollouts (rollout_id, application_id, label, operation, asked, subject, selector, plan, state, at_work,
       publishes, drained, stage, approved, devices, entries, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 1, -1, -1, ?, 0, ?)`,
    rolloutId,
    applicationId,
    label,
    operation,
    unit.vault.seal(placeOf(rolloutId), JSON.stringify(asked)),
    subject,
    JSON.stringify(selector),
    JSON.stringify(plan),
    state,
    devices,
    createdAt,
  );
}

/**
 * Stores the changed members of a rollout. It is at work until nothing of it is left to do. A cancelled one loses the body
 * of its operation.
 */
export async function updateRollout(unit: UnitOfWork, rollout: Rollout): Promise<void> {
  const isOver = rollout.endedAt !== null && rollout.drained;
  await unit.run(
    `UPDATE rollouts SET label = ?, plan = ?, state = ?, reason = ?, at_work = ?, publishes = ?, drained = ?, stage = ?,
       stage_since = ?, share_since = ?, approved = ?, devices = ?, entries = ?, started_at = ?, ended_at = ?,
       asked = CASE WHEN ? = 1 THEN NULL ELSE asked END
     WHERE rollout_id = ?`,
    rollout.label,
    JSON.stringify(rollout.plan),
    rollout.state,
    rollout.reason,
    isOver ? 0 : 1,
    rollout.publishes ? 1 : 0,
    rollout.drained ? 1 : 0,
    rollout.stage,
    rollout.stageSince,
    rollout.shareSince,
    rollout.approved,
    rollout.devices,
    rollout.entries,
    rollout.startedAt,
    rollout.endedAt,
    rollout.state === 'cancelled' ? 1 : 0,
    rollout.rolloutId,
  );
}

/** Deletes the body of the operation, which can hold passwords, when no device can need it any more. */
export async function forgetAsked(unit: UnitOfWork, rolloutId: string): Promise<void> {
  await unit.run('UPDATE rollouts SET asked = NULL WHERE rollout_id = ?', rolloutId);
}

/** Deletes the bodies of the operations of all rollouts of an application. */
export async function forgetAllAsked(unit: UnitOfWork, applicationId: string): Promise<void> {
  await unit.run('UPDATE rollouts SET asked = NULL WHERE application_id = ? AND asked IS NOT NULL', applicationId);
}

const TABLES = [
  'rollout_members',
  'rollout_values',
  'rollout_counts',
  'rollout_times',
  'rollout_entries',
  'rollout_watch',
  'rollout_health',
  'rollouts',
];

/** Removes a rollout with all its rows, except the transactions. */
export async function removeRollout(unit: UnitOfWork, rolloutId: string): Promise<void> {
  for (const table of TABLES) await unit.run(`DELETE FROM ${table} WHERE rollout_id = ?`, rolloutId);
}

/** The rollouts that are at work, also those whose devices are still being stored. */
export async function findAtWork(sql: Sql): Promise<Rollout[]> {
  const rows = await sql.all<Row>(
    `SELECT ${COLUMNS} FROM rollouts WHERE at_work = 1 ORDER BY application_id, rollout_id`,
  );
  return rows.map(toRollout);
}

/** The rollouts of an application that are at work, in the order in which they are locked. */
export async function findAtWorkOf(sql: Sql, applicationId: string): Promise<string[]> {
  const rows = await sql.all<{ rolloutId: string }>(
    'SELECT rollout_id AS "rolloutId" FROM rollouts WHERE application_id = ? AND at_work = 1 ORDER BY rollout_id',
    applicationId,
  );
  return rows.map(({ rolloutId }) => rolloutId);
}

/** Counts the rollouts of an application that are at work. */
export async function countAtWork(sql: Sql, applicationId: string): Promise<number> {
  const row = await sql.get<{ rollouts: number }>(
    'SELECT count(*) AS "rollouts" FROM rollouts WHERE application_id = ? AND at_work = 1',
    applicationId,
  );
  return row?.rollouts ?? 0;
}

export interface RolloutFilter {
  applicationId?: string;
  state?: Exclude<RolloutState, 'preparing'>;
  operation?: string;
  /** Only rollouts that have this device. */
  deviceId?: string;
}

/** A page of rollouts, the newest first. */
export async function listRollouts(
  sql: Sql,
  filter: RolloutFilter,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<Rollout[]> {
  const conditions: [string, string][] = [];
  if (filter.applicationId !== undefined) conditions.push(['application_id = ?', filter.applicationId]);
  if (filter.state !== undefined) conditions.push(['state = ?', filter.state]);
  if (filter.operation !== undefined) conditions.push(['operation = ?', filter.operation]);
  const ofDevice =
    'EXISTS (SELECT 1 FROM rollout_members m WHERE m.rollout_id = rollouts.rollout_id AND m.device_id = ?)';
  if (filter.deviceId !== undefined) conditions.push([ofDevice, filter.deviceId]);
  if (after !== undefined) conditions.push(['rollout_id < ?', after]);
  const rows = await sql.all<Row>(
    `SELECT ${COLUMNS} FROM rollouts WHERE ${["state <> 'preparing'", ...conditions.map(([text]) => text)].join(' AND ')}
     ORDER BY rollout_id DESC LIMIT ?`,
    ...conditions.map(([, value]) => value),
    limit,
  );
  return rows.map(toRollout);
}

/** An entry in the history of a rollout. */
export type RolloutEvent =
  | 'created'
  | 'started'
  | 'stageStarted'
  | 'paused'
  | 'resumed'
  | 'approved'
  | 'changed'
  | 'retried'
  | 'reverted'
  | 'revertFailed'
  | 'completed'
  | 'cancelled';

export interface Entry {
  entry: number;
  at: Micros;
  event: RolloutEvent;
  stage: number | null;
  actor: Actor;
  reason: PauseReason | null;
  /** JSON: the finding of the rule that paused the rollout, and the verdict on its stage. */
  detail: string | null;
  /** The name of the person who did it. */
  person: string | null;
}

export async function insertEntry(unit: UnitOfWork, rolloutId: string, row: Entry): Promise<void> {
  await unit.run(
    'INSERT INTO rollout_entries (rollout_id, entry, at, event, stage, actor, reason, detail, person) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    rolloutId,
    row.entry,
    row.at,
    row.event,
    row.stage,
    row.actor,
    row.reason,
    row.detail,
    row.person,
  );
}

/** The latest entries of a rollout, the newest first. */
export const listEntries = (sql: Sql, rolloutId: string, limit: number): Promise<Entry[]> =>
  sql.all<Entry>(
    `SELECT entry, at, event, stage, actor, reason, detail, person FROM rollout_entries WHERE rollout_id = ? ORDER BY entry DESC LIMIT ?`,
    rolloutId,
    limit,
  );

/** The pauses of a rollout by health rules, the newest 100. */
export const findFindings = (sql: Sql, rolloutId: string): Promise<Pick<Entry, 'stage' | 'detail'>[]> =>
  sql.all(
    `SELECT stage, detail FROM rollout_entries WHERE rollout_id = ? AND event = 'paused' AND reason = 'HEALTH_RULE'
     ORDER BY entry DESC LIMIT 100`,
    rolloutId,
  );

/** Rollouts that ended before a time, the earliest made first. */
export const findEndedBefore = (
  sql: Sql,
  before: Micros,
  limit: number,
): Promise<{ rolloutId: string; endedAt: Micros }[]> =>
  sql.all(
    `SELECT rollout_id AS "rolloutId", ended_at AS "endedAt" FROM rollouts WHERE at_work = 0 AND ended_at < ?
     ORDER BY rollout_id LIMIT ?`,
    before,
    limit,
  );

/** The time at which the first of all rollouts ended; null when none has. */
export async function oldestEnd(sql: Sql): Promise<Micros | null> {
  const row = await sql.get<{ at: Micros | null }>('SELECT MIN(ended_at) AS "at" FROM rollouts WHERE at_work = 0');
  return row?.at ?? null;
}
