import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { ROWS_PER_READ } from '../../platform/database/sweep.ts';
import type { Micros } from '../../runtime/units.ts';
import type { AuditRow } from './audit-row.ts';

/** The chain of sealed entries: its end, and the end of the part that retention has removed. */
export interface Chain {
  /** The position of the last sealed entry; 0 before the first. */
  position: number;
  hash: string;
  /** Shows that who wrote this end had the encryption key; see chain-seal.ts. Null: there is none. */
  seal: string | null;
  cutPosition: number;
  cutHash: string;
  /** Entries up to this auditId may be of an earlier release, and then have no position. */
  firstId: number;
}

/** An entry as it is sealed. The names of its members do not matter for the hash, their order does. */
export type SealedRow = AuditRow;

/** The hash before the first entry. */
export const NO_HASH = '';

const CHAIN = `SELECT position, hash, seal, cut_position AS "cutPosition", cut_hash AS "cutHash", first_id AS "firstId"
  FROM audit_chain WHERE one = 1`;
const COLUMNS = `audit_id AS "auditId", position, hash, at, actor_kind AS "actorKind", actor_name AS "actorName",
  person_id AS "personId", person_name AS "personName", token_name AS "tokenName", action, resource,
  request_id AS "requestId", address, status, details`;

/** Reads the ends of the chain; undefined before the first entry is sealed. */
export const findChain = (sql: Sql, lock: Lock = ''): Promise<Chain | undefined> => sql.get(`${CHAIN}${lock}`);

/** The newest entry and the position of the last sealed one; 0 before the first. */
export async function findEnd(sql: Sql): Promise<{ auditId: number; position: number }> {
  const row = await sql.get<{ auditId: number | null; position: number | null }>(
    'SELECT (SELECT MAX(audit_id) FROM audit_log) AS "auditId", (SELECT position FROM audit_chain) AS position',
  );
  return { auditId: row?.auditId ?? 0, position: row?.position ?? 0 };
}

/** Locks the chain, so that positions are given out in the order of commits, also by several nodes. */
export async function lockChain(unit: UnitOfWork): Promise<Chain> {
  const known = await findChain(unit, unit.forUpdate);
  if (known) return known;
  const last = await unit.get<{ auditId: number | null }>('SELECT MAX(audit_id) AS "auditId" FROM audit_log');
  await unit.run(
    `INSERT INTO audit_chain (one, position, hash, cut_position, cut_hash, first_id) VALUES (1, 0, ?, 0, ?, ?)
     ON CONFLICT (one) DO NOTHING`,
    NO_HASH,
    NO_HASH,
    last?.auditId ?? 0,
  );
  return (await findChain(unit, unit.forUpdate)) as Chain;
}

export async function findSealable(sql: Sql, auditId: number): Promise<SealedRow | undefined> {
  return sql.get(`SELECT ${COLUMNS} FROM audit_log WHERE audit_id = ?`, auditId);
}

/** Writes an entry's position and hash, which end its changes, and the new end of the chain. */
export function saveSeal(
  unit: UnitOfWork,
  { auditId, position, hash, seal }: { auditId: number; position: number; hash: string; seal: string | null },
): void {
  unit.later('UPDATE audit_log SET position = ?, hash = ? WHERE audit_id = ?', [position, hash, auditId]);
  unit.later('UPDATE audit_chain SET position = ?, hash = ?, seal = ? WHERE one = 1', [position, hash, seal]);
}

/** The next sealed entries after a position. */
export const listSealed = (sql: Sql, after: number, limit: number): Promise<SealedRow[]> =>
  sql.all(`SELECT ${COLUMNS} FROM audit_log WHERE position > ? ORDER BY position LIMIT ?`, after, limit);

/** Entries behind `firstId` that are not sealed, and were begun before a time: their process has ended. */
export async function findAbandoned(sql: Sql, firstId: number, before: Micros): Promise<number[]> {
  const rows = await sql.all<{ auditId: number }>(
    `SELECT audit_id AS "auditId" FROM audit_log WHERE audit_id > ? AND position IS NULL AND at < ?
     ORDER BY audit_id LIMIT ${ROWS_PER_READ}`,
    firstId,
    before,
  );
  return rows.map(({ auditId }) => auditId);
}

/** Counts the entries without a position: of earlier releases, and of requests that have not ended. */
export async function countUnsealed(sql: Sql, firstId: number): Promise<{ earlier: number; open: number }> {
  const row = await sql.get<{ earlier: number; open: number }>(
    `SELECT COUNT(CASE WHEN audit_id <= ? THEN 1 END) AS earlier, COUNT(CASE WHEN audit_id > ? THEN 1 END) AS open
     FROM audit_log WHERE position IS NULL`,
    firstId,
    firstId,
  );
  return row ?? { earlier: 0, open: 0 };
}

/** The next sealed entries after a position that were written before a time, up to the first that was not. */
export async function findOldSealed(
  sql: Sql,
  after: number,
  before: Micros,
): Promise<{ position: number; at: Micros }[]> {
  const rows = await sql.all<{ position: number; at: Micros }>(
    `SELECT position, at FROM audit_log WHERE position > ? ORDER BY position LIMIT 200`,
    after,
  );
  const kept = rows.findIndex(({ at }) => at >= before);
  return kept === -1 ? rows : rows.slice(0, kept);
}

/** Removes the entries up to a position, and keeps the hash of the last of them. Returns their number. */
export async function cutChain(unit: UnitOfWork, upTo: number): Promise<number> {
  const { cutPosition } = await lockChain(unit);
  if (upTo <= cutPosition) return 0;
  const last = await unit.get<{ hash: string }>('SELECT hash FROM audit_log WHERE position = ?', upTo);
  if (!last) return 0;
  await unit.run('UPDATE audit_chain SET cut_position = ?, cut_hash = ? WHERE one = 1', upTo, last.hash);
  await unit.run(
    'DELETE FROM audit_objects WHERE audit_id IN (SELECT audit_id FROM audit_log WHERE position > ? AND position <= ?)',
    cutPosition,
    upTo,
  );
  return unit.run('DELETE FROM audit_log WHERE position > ? AND position <= ?', cutPosition, upTo);
}
