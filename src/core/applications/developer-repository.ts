import { containing, ESCAPE } from '../../platform/database/like.ts';
import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

export interface Developer {
  developerId: string;
  name: string;
  /** The contracted number of activated devices; null: no contract. */
  deviceLimit: number | null;
  /** `required`: only versions with a signature are distributed. */
  softwareSignatures: 'optional' | 'required';
  /** Whether a version is refused when its APK has another certificate than the version before. */
  certificateChange: 'warn' | 'refuse';
  /** The removal that was accepted for the developer; null: none. */
  removalId: string | null;
}

/** The rules of a developer for whom nobody has set any. */
export const NO_RULES: Pick<Developer, 'softwareSignatures' | 'certificateChange'> = {
  softwareSignatures: 'optional',
  certificateChange: 'warn',
};

const COLUMNS = `developer_id AS "developerId", name, device_limit AS "deviceLimit",
  software_signatures AS "softwareSignatures", certificate_change AS "certificateChange", removal_id AS "removalId"`;

/**
 * Finds a developer. A unit of work whose decision depends on the row passes `lock` (its `forUpdate`), so that no other
 * unit changes the row meanwhile.
 */
export async function findDeveloper(sql: Sql, developerId: string, lock: Lock = ''): Promise<Developer | undefined> {
  return sql.get(`SELECT ${COLUMNS} FROM developers WHERE developer_id = ?${lock}`, developerId);
}

/** A bound of the number of a developer's devices that are activated or being activated, and when they were counted. */
export interface HeldSlots {
  atMost: number | null;
  countedAt: Micros | null;
}

/** Finds the bound; a unit of work that changes it has locked the developer. */
export const findHeldSlots = (sql: Sql, developerId: string): Promise<HeldSlots | undefined> =>
  sql.get(
    'SELECT held_at_most AS "atMost", held_counted_at AS "countedAt" FROM developers WHERE developer_id = ?',
    developerId,
  );

export const saveHeldSlots = (unit: UnitOfWork, developerId: string, { atMost, countedAt }: HeldSlots): void =>
  unit.later('UPDATE developers SET held_at_most = ?, held_counted_at = ? WHERE developer_id = ?', [
    atMost,
    countedAt,
    developerId,
  ]);

/** The developerId of deleted applications whose developer was deleted too; no developer can have this id. */
export const NOBODY = '';

/** A page of all developers, ordered by id, and their total number. */
export async function listDevelopers(
  sql: Sql,
  page: { offset: number; limit: number },
): Promise<{ developers: Developer[]; total: number }> {
  const developers = await sql.all<Developer>(
    `SELECT ${COLUMNS} FROM developers WHERE developer_id <> '' ORDER BY developer_id LIMIT ? OFFSET ?`,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM developers WHERE developer_id <> ''`);
  return { developers, total: count?.total ?? 0 };
}

/** Returns false when the id is taken. */
export async function insertDeveloper(
  sql: Sql,
  developer: Omit<Developer, 'removalId'>,
  createdAt: Micros,
): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO developers (developer_id, name, device_limit, software_signatures, certificate_change, created_at)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (developer_id) DO NOTHING`,
    developer.developerId,
    developer.name,
    developer.deviceLimit,
    developer.softwareSignatures,
    developer.certificateChange,
    createdAt,
  );
  return inserted === 1;
}

export async function updateDeveloper(sql: Sql, developer: Developer): Promise<void> {
  await sql.run(
    `UPDATE developers SET name = ?, device_limit = ?, software_signatures = ?, certificate_change = ?
     WHERE developer_id = ?`,
    developer.name,
    developer.deviceLimit,
    developer.softwareSignatures,
    developer.certificateChange,
    developer.developerId,
  );
}

/** Stores that the developer is being removed. */
export async function markLeaving(sql: Sql, developerId: string, removalId: string): Promise<void> {
  await sql.run('UPDATE developers SET removal_id = ? WHERE developer_id = ?', removalId, developerId);
}

/** Developers whose id or name contains a text, ordered by id. */
export const searchDevelopers = (sql: Sql, text: string, limit: number): Promise<{ developerId: string }[]> =>
  sql.all(
    `SELECT developer_id AS "developerId" FROM developers WHERE developer_id <> ''
     AND (LOWER(developer_id) LIKE ? ${ESCAPE} OR LOWER(name) LIKE ? ${ESCAPE}) ORDER BY developer_id LIMIT ?`,
    containing(text),
    containing(text),
    limit,
  );

/** Deletes a developer. The database refuses it while any row refers to the developer. */
export async function deleteDeveloper(sql: Sql, developerId: string): Promise<void> {
  await sql.run('DELETE FROM developers WHERE developer_id = ?', developerId);
}
