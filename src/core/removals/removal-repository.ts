import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Cleared, ClearedKind, Leaver } from '../applications/clearing.ts';

/** A developer or an application that is removed with all its data. */
export interface Removal extends Leaver {
  removalId: string;
  /** The name of the developer or application at the time of the request. */
  name: string;
  /** The numbers of rows at the time of the request. */
  contents: object;
  /** What is being removed; null before the first step and after the last. */
  step: ClearedKind | null;
  requestedAt: Micros;
  /** The time of the last commit that removed something. */
  progressedAt: Micros;
  /** Null until everything is removed. */
  endedAt: Micros | null;
}

type Row = Omit<Removal, 'contents'> & { contents: string };

const COLUMNS = `removal_id AS "removalId", developer_id AS "developerId", application_id AS "applicationId", name, contents,
  step, requested_at AS "requestedAt", progressed_at AS "progressedAt", ended_at AS "endedAt"`;

const toRemoval = (row: Row): Removal => ({ ...row, contents: JSON.parse(row.contents) as object });

export async function findRemoval(sql: Sql, removalId: string, lock: Lock = ''): Promise<Removal | undefined> {
  const row = await sql.get<Row>(`SELECT ${COLUMNS} FROM removals WHERE removal_id = ?${lock}`, removalId);
  return row && toRemoval(row);
}

/** The latest removal of a developer, or of an application. */
export async function findLatest(
  sql: Sql,
  wanted: { developerId: string } | { applicationId: string },
): Promise<Removal | undefined> {
  const [condition, id] =
    'developerId' in wanted
      ? ['developer_id = ? AND application_id IS NULL', wanted.developerId]
      : ['application_id = ?', wanted.applicationId];
  const row = await sql.get<Row>(
    `SELECT ${COLUMNS} FROM removals WHERE ${condition} ORDER BY removal_id DESC LIMIT 1`,
    id,
  );
  return row && toRemoval(row);
}

/** The removals that have not ended, in the order in which they were requested. */
export async function findRunning(sql: Sql): Promise<Removal[]> {
  const rows = await sql.all<Row>(`SELECT ${COLUMNS} FROM removals WHERE ended_at IS NULL ORDER BY removal_id`);
  return rows.map(toRemoval);
}

export interface RemovalFilter {
  developerId?: string | undefined;
  applicationId?: string | undefined;
  state?: 'running' | 'ended' | undefined;
}

/** A page of removals, the newest first. */
export async function listRemovals(
  sql: Sql,
  { developerId, applicationId, state }: RemovalFilter,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<Removal[]> {
  const conditions: [text: string, ...values: string[]][] = [['1 = 1']];
  if (developerId !== undefined) conditions.push(['developer_id = ?', developerId]);
  if (applicationId !== undefined)
    conditions.push([
      '(application_id = ? OR removal_id = (SELECT removal_id FROM applications WHERE application_id = ?))',
      applicationId,
      applicationId,
    ]);
  if (state !== undefined) conditions.push([state === 'running' ? 'ended_at IS NULL' : 'ended_at IS NOT NULL']);
  if (after !== undefined) conditions.push(['removal_id < ?', after]);
  const rows = await sql.all<Row>(
    `SELECT ${COLUMNS} FROM removals WHERE ${conditions.map(([text]) => text).join(' AND ')}
     ORDER BY removal_id DESC LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    limit,
  );
  return rows.map(toRemoval);
}

export async function insertRemoval(unit: UnitOfWork, removal: Removal): Promise<void> {
  await unit.run(
    `INSERT INTO removals (removal_id, developer_id, application_id, name, contents, requested_at, progressed_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    removal.removalId,
    removal.developerId,
    removal.applicationId,
    removal.name,
    JSON.stringify(removal.contents),
    removal.requestedAt,
    removal.progressedAt,
  );
}

/** Stores what is being removed. */
export async function saveStep(unit: UnitOfWork, removalId: string, step: ClearedKind): Promise<void> {
  await unit.run('UPDATE removals SET step = ? WHERE removal_id = ?', step, removalId);
}

/** Stores that rows were removed. */
export async function saveProgress(unit: UnitOfWork, removalId: string, at: Micros): Promise<void> {
  await unit.run('UPDATE removals SET progressed_at = ? WHERE removal_id = ?', at, removalId);
}

/** Adds to the number of removed rows of a kind, in the commit that removes them. */
export async function addCleared(unit: UnitOfWork, removalId: string, kind: string, removed: number): Promise<void> {
  await unit.run(
    `INSERT INTO removal_counts (removal_id, kind, removed) VALUES (?, ?, ?)
       ON CONFLICT (removal_id, kind) DO UPDATE SET removed = removal_counts.removed + excluded.removed`,
    removalId,
    kind,
    removed,
  );
}

/** The numbers of removed rows so far. */
export async function findCleared(sql: Sql, removalId: string): Promise<Cleared> {
  const rows = await sql.all<{ kind: ClearedKind; removed: number }>(
    'SELECT kind, removed FROM removal_counts WHERE removal_id = ?',
    removalId,
  );
  return Object.fromEntries(rows.map(({ kind, removed }) => [kind, removed]));
}

/** Stores that everything is removed. Returns false when that was known. */
export async function saveEnd(unit: UnitOfWork, removalId: string, at: Micros): Promise<boolean> {
  const text =
    'UPDATE removals SET step = NULL, progressed_at = ?, ended_at = ? WHERE removal_id = ? AND ended_at IS NULL';
  return (await unit.run(text, at, at, removalId)) === 1;
}

/** Removals that ended before a time, the oldest first. */
export const findEndedBefore = (
  sql: Sql,
  before: Micros,
  limit: number,
): Promise<{ removalId: string; at: Micros }[]> =>
  sql.all(
    `SELECT removal_id AS "removalId", ended_at AS "at" FROM removals WHERE ended_at < ? ORDER BY removal_id LIMIT ?`,
    before,
    limit,
  );

export async function deleteRemoval(unit: UnitOfWork, removalId: string): Promise<number> {
  await unit.run('DELETE FROM removal_counts WHERE removal_id = ?', removalId);
  return unit.run('DELETE FROM removals WHERE removal_id = ? AND ended_at IS NOT NULL', removalId);
}

/** The time at which the first of all removals ended; null when none has. */
export async function oldestEnd(sql: Sql): Promise<Micros | null> {
  const row = await sql.get<{ at: Micros | null }>('SELECT MIN(ended_at) AS "at" FROM removals');
  return row?.at ?? null;
}
