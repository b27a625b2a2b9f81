import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { MemberRole } from './member-roles.ts';

/** Somebody of a developer, with the one token that they have; its secret is stored as a hash. */
export interface Member {
  memberId: string;
  developerId: string;
  name: string;
  role: MemberRole;
  createdAt: Micros;
  expiresAt: Micros;
  /** The last use of the token, to the minute; null before the first. */
  lastUsedAt: Micros | null;
}

const COLUMNS = `member_id AS "memberId", developer_id AS "developerId", name, role, created_at AS "createdAt",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt"`;

/** Finds the member whose token is valid at `now`. */
export const findMemberBySecret = (sql: Sql, secretHash: Buffer, now: Micros): Promise<Member | undefined> =>
  sql.get(`SELECT ${COLUMNS} FROM members WHERE secret_hash = ? AND expires_at > ?`, secretHash, now);

/** The members of a developer, ordered by their names. */
export const listMembers = (sql: Sql, developerId: string): Promise<Member[]> =>
  sql.all(`SELECT ${COLUMNS} FROM members WHERE developer_id = ? ORDER BY name`, developerId);

/** Returns false when the developer has a member of this name. */
export async function insertMember(sql: Sql, member: Member, secretHash: Buffer): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO members (member_id, developer_id, name, role, secret_hash, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (developer_id, name) DO NOTHING`,
    member.memberId,
    member.developerId,
    member.name,
    member.role,
    secretHash,
    member.createdAt,
    member.expiresAt,
  );
  return inserted === 1;
}

/** Returns false when the developer has no such member. */
export const deleteMember = async (sql: Sql, developerId: string, memberId: string): Promise<boolean> =>
  (await sql.run('DELETE FROM members WHERE member_id = ? AND developer_id = ?', memberId, developerId)) > 0;

export async function deleteMembersOf(sql: Sql, developerId: string): Promise<void> {
  await sql.run('DELETE FROM members WHERE developer_id = ?', developerId);
}

/** Stores the time of the last use; an earlier time than the stored one is ignored. */
export async function saveMemberUse(sql: Sql, memberId: string, at: Micros): Promise<void> {
  await sql.run(
    'UPDATE members SET last_used_at = ? WHERE member_id = ? AND (last_used_at IS NULL OR last_used_at < ?)',
    at,
    memberId,
    at,
  );
}
