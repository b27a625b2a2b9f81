import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql, SqlValue, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { MemberState } from './rollout.ts';

/** A device of a rollout. */
export interface Member {
  deviceId: string;
  stage: number;
  /** Its number in the order in which the devices are served. */
  place: number;
  state: MemberState;
  /** Its latest transaction. */
  transactionId: number | null;
  /** The number of its transactions, without those that were taken back. */
  attempts: number;
  /** The code of its failure or refusal. */
  code: string | null;
  /** The time before which no transaction is made for it. */
  notBefore: Micros;
  updatedAt: Micros;
}

const COLUMNS = `device_id AS "deviceId", stage, place, state, transaction_id AS "transactionId", attempts, code,
  not_before AS "notBefore", updated_at AS "updatedAt"`;

export const findMember = (sql: Sql, rolloutId: string, deviceId: string): Promise<Member | undefined> =>
  sql.get<Member>(`SELECT ${COLUMNS} FROM rollout_members WHERE rollout_id = ? AND device_id = ?`, rolloutId, deviceId);

/** Those of the devices that are members already. */
export async function membersAmong(sql: Sql, rolloutId: string, deviceIds: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const list of inLists(deviceIds)) {
    const rows = await sql.all<{ deviceId: string }>(
      `SELECT device_id AS "deviceId" FROM rollout_members WHERE rollout_id = ? AND device_id IN ${IN_LIST}`,
      rolloutId,
      ...list,
    );
    for (const { deviceId } of rows) found.add(deviceId);
  }
  return found;
}

/** Adds waiting members. A device that is a member already stays as it is; returns the new ones. */
export async function insertMembers(
  unit: UnitOfWork,
  rolloutId: string,
  members: readonly Pick<Member, 'deviceId' | 'stage' | 'place'>[],
  now: Micros,
): Promise<Pick<Member, 'stage'>[]> {
  const added: Pick<Member, 'stage'>[] = [];
  const written = members.map(async (member) => {
    const changed = await unit.run(
      `INSERT INTO rollout_members (rollout_id, device_id, stage, place, state, attempts, not_before, updated_at)
       VALUES (?, ?, ?, ?, 'waiting', 0, 0, ?) ON CONFLICT (rollout_id, device_id) DO NOTHING`,
      rolloutId,
      member.deviceId,
      member.stage,
      member.place,
      now,
    );
    if (changed === 1) added.push(member);
  });
  await Promise.all(written);
  return added;
}

/** Changes a member; false when its state, or its transaction, is not the expected one. */
export async function updateMember(
  unit: UnitOfWork,
  rolloutId: string,
  from: Pick<Member, 'deviceId' | 'state' | 'transactionId'>,
  to: Pick<Member, 'state' | 'transactionId' | 'attempts' | 'code' | 'notBefore'>,
  now: Micros,
): Promise<boolean> {
  const changed = await unit.run(
    `UPDATE rollout_members SET state = ?, transaction_id = ?, attempts = ?, code = ?, not_before = ?, updated_at = ?
     WHERE rollout_id = ? AND device_id = ? AND state = ? AND COALESCE(transaction_id, 0) = ?`,
    to.state,
    to.transactionId,
    to.attempts,
    to.code,
    to.notBefore,
    now,
    rolloutId,
    from.deviceId,
    from.state,
    from.transactionId ?? 0,
  );
  return changed === 1;
}

/**
 * The next members of a stage that wait and whose time has come, in the order of their places. One that would wait for longer
 * than `longest` has its time from a clock that was ahead, so its wait is over.
 */
export const findWaiting = (
  sql: Sql,
  rolloutId: string,
  { stage, now, longest, limit }: { stage: number; now: Micros; longest: Micros; limit: number },
): Promise<Member[]> =>
  sql.all<Member>(
    `SELECT ${COLUMNS} FROM rollout_members WHERE rollout_id = ? AND state = 'waiting' AND stage = ?
       AND (not_before <= ? OR not_before > ?) ORDER BY place LIMIT ?`,
    rolloutId,
    stage,
    now,
    now + longest,
    limit,
  );

/** The earliest time at which a member that waits for its next attempt may have it; undefined without such a member. */
export async function nextRetryAt(sql: Sql, rolloutId: string, now: Micros): Promise<Micros | undefined> {
  const row = await sql.get<{ at: Micros | null }>(
    `SELECT MIN(not_before) AS "at" FROM rollout_members WHERE rollout_id = ? AND state = 'waiting' AND not_before > ?`,
    rolloutId,
    now,
  );
  return row?.at ?? undefined;
}

/** Removes members of a rollout, at most `limit` of them. Returns the number of removed rows. */
export async function removeMembers(unit: UnitOfWork, rolloutId: string, limit: number): Promise<number> {
  const some = 'SELECT device_id FROM rollout_members WHERE rollout_id = ? ORDER BY device_id LIMIT ?';
  const remove = (table: string): Promise<number> =>
    unit.run(`DELETE FROM ${table} WHERE rollout_id = ? AND device_id IN (${some})`, rolloutId, rolloutId, limit);
  await remove('rollout_values');
  return remove('rollout_members');
}

/** Removes a member, if its rollout has ended before a time. Returns the number of removed rows. */
export async function removeMemberOfEnded(
  unit: UnitOfWork,
  rolloutId: string,
  deviceId: string,
  before: Micros,
): Promise<number> {
  const remove = (table: string): Promise<number> =>
    unit.run(
      `DELETE FROM ${table} WHERE rollout_id = ? AND device_id = ? AND rollout_id IN
         (SELECT rollout_id FROM rollouts WHERE rollout_id = ? AND at_work = 0 AND ended_at < ?)`,
      rolloutId,
      deviceId,
      rolloutId,
      before,
    );
  await remove('rollout_values');
  return remove('rollout_members');
}

/** A member whose success is provisional, with the stored time at which its device was last heard of. */
export interface ConfirmingMember extends Member {
  rolloutId: string;
  lastSeenAt: Micros | null;
}
type ConfirmingPlace = Pick<ConfirmingMember, 'notBefore' | 'rolloutId' | 'deviceId'>;
export const FIRST_CONFIRMING: ConfirmingPlace = { notBefore: -1, rolloutId: '', deviceId: '' };

/**
 * Members of all rollouts whose success is provisional, in the order of the times (`notBefore`) by which their devices have
 * to be seen.
 */
export const findConfirming = (
  sql: Sql,
  { notBefore, rolloutId, deviceId }: ConfirmingPlace,
  limit: number,
): Promise<ConfirmingMember[]> =>
  sql.all<ConfirmingMember>(
    `SELECT m.rollout_id AS "rolloutId", m.device_id AS "deviceId", m.stage, m.place, m.state,
       m.transaction_id AS "transactionId", m.attempts, m.code, m.not_before AS "notBefore", m.updated_at AS "updatedAt",
       p.last_seen_at AS "lastSeenAt"
     FROM rollout_members m LEFT JOIN device_presence p ON p.device_id = m.device_id
     WHERE m.state = 'confirming' AND (m.not_before, m.rollout_id, m.device_id) > (?, ?, ?)
     ORDER BY m.not_before, m.rollout_id, m.device_id LIMIT ?`,
    notBefore,
    rolloutId,
    deviceId,
    limit,
  );

/** The stored time at which a device was last heard of; 0 when there is none. */
export async function lastSeenOf(sql: Sql, deviceId: string): Promise<Micros> {
  const row = await sql.get<{ at: Micros }>(
    'SELECT last_seen_at AS "at" FROM device_presence WHERE device_id = ?',
    deviceId,
  );
  return row?.at ?? 0;
}

/** The place of a member in a list by state. */
export interface MemberPlace {
  stage: number;
  place: number;
}

/** Members in a state behind a place, in their order. */
export function findInState(
  sql: Sql,
  rolloutId: string,
  { state, code, after, limit }: { state: MemberState; code?: string | undefined; after: MemberPlace; limit: number },
): Promise<Member[]> {
  const ofCode = code === undefined ? '' : ' AND code = ?';
  const values: SqlValue[] = code === undefined ? [] : [code];
  return sql.all<Member>(
    `SELECT ${COLUMNS} FROM rollout_members WHERE rollout_id = ? AND state = ?
       AND (stage > ? OR (stage = ? AND place > ?))${ofCode} ORDER BY stage, place LIMIT ?`,
    rolloutId,
    state,
    after.stage,
    after.stage,
    after.place,
    ...values,
    limit,
  );
}

/** The time of the latest result; undefined without one. */
export async function lastResultAt(sql: Sql, rolloutId: string): Promise<Micros | undefined> {
  const row = await sql.get<{ at: Micros | null }>(
    `SELECT MAX(updated_at) AS "at" FROM rollout_members WHERE rollout_id = ? AND state IN ('succeeded', 'failed')`,
    rolloutId,
  );
  return row?.at ?? undefined;
}

/** The numbers of results in intervals of `width` microseconds from a time on; `slot` counts them from 0. */
export const countResults = (
  sql: Sql,
  rolloutId: string,
  { from, width }: { from: Micros; width: number },
): Promise<{ slot: number; state: 'succeeded' | 'failed'; devices: number }[]> =>
  sql.all(
    `SELECT CAST((updated_at - ?) / ? AS BIGINT) AS slot, state, COUNT(*) AS devices FROM rollout_members
     WHERE rollout_id = ? AND state IN ('succeeded', 'failed') AND updated_at >= ? GROUP BY 1, 2 ORDER BY 1`,
    from,
    width,
    rolloutId,
    from,
  );

/** All members behind a deviceId, in the order of their deviceIds. */
export const findMembers = (sql: Sql, rolloutId: string, after: string, limit: number): Promise<Member[]> =>
  sql.all<Member>(
    `SELECT ${COLUMNS} FROM rollout_members WHERE rollout_id = ? AND device_id > ? ORDER BY device_id LIMIT ?`,
    rolloutId,
    after,
    limit,
  );

/** The status of transactions, and the time of their delivery. */
export async function statusesOf(
  sql: Sql,
  transactionIds: readonly number[],
): Promise<Map<number, { status: string; deliveredAt: Micros | null }>> {
  const found = new Map<number, { status: string; deliveredAt: Micros | null }>();
  for (const list of inLists(transactionIds)) {
    const rows = await sql.all<{ transactionId: number; status: string; deliveredAt: Micros | null }>(
      `SELECT transaction_id AS "transactionId", status, delivered_at AS "deliveredAt" FROM transactions
       WHERE transaction_id IN ${IN_LIST}`,
      ...list,
    );
    for (const { transactionId, ...row } of rows) found.set(transactionId, row);
  }
  return found;
}
