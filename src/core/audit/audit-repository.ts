import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import { containing, ESCAPE } from '../../platform/database/like.ts';
import { type NewestPage, newestFirst, type PageQuery } from '../../platform/database/newest-first.ts';
import type { Sql, SqlValue, UnitOfWork } from '../../platform/database/sql.ts';
import { ROWS_PER_READ } from '../../platform/database/sweep.ts';
import type { Micros } from '../../runtime/units.ts';
import type { AuditRow } from './audit-row.ts';

export type AuditEntry = Omit<AuditRow, 'details'> & { details: object | null };

export interface AuditFilter {
  /** Selects the entries whose time, in microseconds, is in [since, until). */
  since?: Micros;
  until?: Micros;
  /**
   * Selects the entries of one kind of actors (such as `application`), of the one actor with this name, or of the person
   * with this personId.
   */
  actor?: string;
  /** Selects the entries whose resource contains this text, in upper or lower case. */
  resource?: string;
  /** Selects the entries about one object. */
  about?: AuditObject;
}

/** Stores the entry of a change that is about to begin; returns its number. */
export const insertEntry = (
  unit: UnitOfWork,
  row: Omit<AuditRow, 'auditId' | 'status' | 'details' | 'position' | 'hash'>,
): Promise<number> =>
  unit.insert(
    `INSERT INTO audit_log
       (at, actor_kind, actor_name, person_id, person_name, token_name, action, resource, request_id, address)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.at,
    row.actorKind,
    row.actorName,
    row.personId,
    row.personName,
    row.tokenName,
    row.action,
    row.resource,
    row.requestId,
    row.address,
  );

/** An object that entries of the audit log are about. */
export interface AuditObject {
  kind: 'device' | 'developer' | 'application' | 'package' | 'rollout' | 'person';
  id: string;
}

/** Stores that an entry is about an object. */
export function insertObject(unit: UnitOfWork, auditId: number, { kind, id }: AuditObject): void {
  const text = 'INSERT INTO audit_objects (kind, object_id, audit_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
  unit.later(text, [kind, id, auditId]);
}

/** The objects that entries are about, by auditId. */
export async function objectsOfEntries(
  sql: Sql,
  auditIds: readonly number[],
): Promise<ReadonlyMap<number, AuditObject[]>> {
  const found = new Map<number, AuditObject[]>();
  for (const list of inLists(auditIds)) {
    const rows = await sql.all<AuditObject & { auditId: number }>(
      `SELECT audit_id AS "auditId", kind, object_id AS id FROM audit_objects WHERE audit_id IN ${IN_LIST} ORDER BY kind`,
      ...list,
    );
    for (const { auditId, kind, id } of rows) found.set(auditId, [...(found.get(auditId) ?? []), { kind, id }]);
  }
  return found;
}

/** Stores the status of the answer, unless the entry already has one, or is sealed. */
export function completeEntry(unit: UnitOfWork, auditId: number, status: number): void {
  const text = 'UPDATE audit_log SET status = ? WHERE audit_id = ? AND status IS NULL AND position IS NULL';
  unit.later(text, [status, auditId]);
}

/** Stores details, such as the number of changed rows, unless the entry already has details, or is sealed. */
export function detailEntry(unit: UnitOfWork, auditId: number, details: string): void {
  const text = 'UPDATE audit_log SET details = ? WHERE audit_id = ? AND details IS NULL AND position IS NULL';
  unit.later(text, [details, auditId]);
}

/**
 * Removes the entry of a repeated refusal, and stores the number of repetitions in the entry of the first. Returns false
 * when that one is sealed, and nothing was done.
 */
export async function replaceByCount(sql: Sql, auditId: number, firstId: number, details: string): Promise<boolean> {
  const counted = await sql.run(
    'UPDATE audit_log SET details = ? WHERE audit_id = ? AND position IS NULL',
    details,
    firstId,
  );
  if (counted > 0) await removeEntry(sql, auditId);
  return counted > 0;
}

const COLUMNS = `a.audit_id AS "auditId", a.at, a.actor_kind AS "actorKind", a.actor_name AS "actorName",
  a.person_id AS "personId", a.person_name AS "personName", a.token_name AS "tokenName", a.action, a.resource,
  a.request_id AS "requestId", a.address, a.status, a.details,
  a.position, a.hash`;

const toEntry = (row: AuditRow): AuditEntry => ({
  ...row,
  details: row.details === null ? null : (JSON.parse(row.details) as object),
});

/** A page of entries, the newest first. */
export async function listEntries(
  sql: Sql,
  { since, until, actor, resource, about, ...page }: AuditFilter & PageQuery<number>,
): Promise<NewestPage<AuditEntry>> {
  const filters: [condition: string, ...values: SqlValue[]][] = [];
  if (since !== undefined) filters.push(['at >= ?', since]);
  if (until !== undefined) filters.push(['at < ?', until]);
  if (actor !== undefined) filters.push(['(actor_kind = ? OR actor_name = ? OR person_id = ?)', actor, actor, actor]);
  if (resource !== undefined) filters.push([`LOWER(resource) LIKE ? ${ESCAPE}`, containing(resource)]);
  const found = await newestFirst<AuditRow, number>(sql, {
    table: about ? 'audit_objects o JOIN audit_log a ON a.audit_id = o.audit_id' : 'audit_log a',
    key: about ? 'o.audit_id' : 'a.audit_id',
    keyOf: ({ auditId }) => auditId,
    columns: COLUMNS,
    ranges: [
      about
        ? { where: 'o.kind = ? AND o.object_id = ?', values: [about.kind, about.id] }
        : { where: '1 = 1', values: [] },
    ],
    filter: filters.length > 0 ? filters.map(([condition]) => condition).join(' AND ') : null,
    filterValues: filters.flatMap(([, ...values]) => values),
    page,
  });
  return { ...found, rows: found.rows.map(toEntry) };
}

/**
 * Among the next entries after an auditId, those that were written before a time and are not part of the chain. Ids and
 * times rise nearly together, so old entries are found along the ids.
 */
export async function findOldEntries(
  sql: Sql,
  after: number,
  before: number,
): Promise<{ auditId: number; at: number }[]> {
  return sql.all(
    `SELECT audit_id AS "auditId", at FROM
       (SELECT audit_id, at, position FROM audit_log WHERE audit_id > ? ORDER BY audit_id LIMIT ${ROWS_PER_READ}) AS seen
     WHERE at < ? AND position IS NULL`,
    after,
    before,
  );
}

export async function removeEntry(sql: Sql, auditId: number): Promise<number> {
  await sql.run('DELETE FROM audit_objects WHERE audit_id = ?', auditId);
  return sql.run('DELETE FROM audit_log WHERE audit_id = ?', auditId);
}

/** The changes of an object, without reads, of [since, until) and behind the entry `after`, the newest first. */
export async function listEntriesOf(
  sql: Sql,
  { kind, id }: AuditObject,
  {
    since,
    until,
    after = Number.MAX_SAFE_INTEGER,
    limit,
  }: { since: Micros; until: Micros; after?: number; limit: number },
): Promise<AuditEntry[]> {
  const rows = await sql.all<AuditRow>(
    `SELECT ${COLUMNS} FROM audit_objects o JOIN audit_log a ON a.audit_id = o.audit_id
     WHERE o.kind = ? AND o.object_id = ? AND o.audit_id < ? AND a.at >= ? AND a.at < ? AND a.action NOT LIKE 'GET %'
     ORDER BY o.audit_id DESC LIMIT ?`,
    kind,
    id,
    after,
    since,
    until,
    limit,
  );
  return rows.map(toEntry);
}

/** The time of the oldest entry, or null. */
export async function findOldestEntry(sql: Sql): Promise<number | null> {
  const row = await sql.get<{ at: number }>('SELECT at FROM audit_log ORDER BY audit_id LIMIT 1');
  return row?.at ?? null;
}
