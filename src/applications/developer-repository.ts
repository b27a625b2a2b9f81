import type { Lock, Sql } from '../database/sql.ts';

export interface Developer {
  developerId: string;
  name: string;
  /** The contracted number of activated devices; null: no contract. */
  deviceLimit: number | null;
}

const COLUMNS = 'developer_id AS "developerId", name, device_limit AS "deviceLimit"';

/** `lock`: for a unit of work that decides on what it finds. */
export async function findDeveloper(sql: Sql, developerId: string, lock: Lock = ''): Promise<Developer | undefined> {
  return sql.get(`SELECT ${COLUMNS} FROM developers WHERE developer_id = ?${lock}`, developerId);
}

/** All developers, by id. */
export async function listDevelopers(
  sql: Sql,
  page: { offset: number; limit: number },
): Promise<{ developers: Developer[]; total: number }> {
  const developers = await sql.all<Developer>(
    `SELECT ${COLUMNS} FROM developers ORDER BY developer_id LIMIT ? OFFSET ?`,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>('SELECT COUNT(*) AS total FROM developers');
  return { developers, total: count?.total ?? 0 };
}

/** False when the id is taken. */
export async function insertDeveloper(sql: Sql, developer: Developer, createdAt: number): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO developers (developer_id, name, device_limit, created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (developer_id) DO NOTHING`,
    developer.developerId,
    developer.name,
    developer.deviceLimit,
    createdAt,
  );
  return inserted === 1;
}

export async function updateDeveloper(sql: Sql, developer: Developer): Promise<void> {
  await sql.run(
    'UPDATE developers SET name = ?, device_limit = ? WHERE developer_id = ?',
    developer.name,
    developer.deviceLimit,
    developer.developerId,
  );
}
