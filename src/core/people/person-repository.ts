import type { Lock, Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { type Login, loginHashOf } from './login.ts';
import type { Role } from './roles.ts';

/** Somebody who administers the service. */
export interface Person {
  personId: string;
  name: string;
  role: Role;
  /** True while the tokens of the person are refused. */
  disabled: boolean;
  createdAt: Micros;
  /** The provider through which the person signs in, and who they are there; null for a person with tokens only. */
  login: Login | null;
}

/** A person with the number of their tokens, and the last time that one was used. */
export interface CountedPerson extends Person {
  tokens: number;
  lastUsedAt: Micros | null;
}

type Row<Of extends Person> = Omit<Of, 'disabled' | 'login'> & {
  disabled: number;
  issuer: string | null;
  subject: string | null;
  noRole: number | null;
};
type Read<Of extends Person> = Omit<Of, 'disabled' | 'login'> & Pick<Person, 'disabled' | 'login'>;

const COLUMNS = `p.person_id AS "personId", p.name, p.role, p.disabled, p.created_at AS "createdAt", p.issuer, p.subject,
  p.no_role AS "noRole"`;

function toPerson<Of extends Person>({ issuer, subject, noRole, disabled, ...row }: Row<Of>) {
  const login = issuer === null || subject === null ? null : { issuer, subject, hasRole: noRole !== 1 };
  return { ...row, disabled: disabled === 1, login } as unknown as Read<Of>;
}

/** Finds a person. A unit of work whose decision depends on the row passes its `forUpdate`. */
export async function findPerson(sql: Sql, personId: string, lock: Lock = ''): Promise<Person | undefined> {
  const row = await sql.get<Row<Person>>(`SELECT ${COLUMNS} FROM people p WHERE p.person_id = ?${lock}`, personId);
  return row && toPerson(row);
}

/** Finds the person who signs in through a provider. */
export async function findByLogin(
  sql: Sql,
  login: Pick<Login, 'issuer' | 'subject'>,
  lock: Lock = '',
): Promise<Person | undefined> {
  const row = await sql.get<Row<Person>>(
    `SELECT ${COLUMNS} FROM people p WHERE p.login_hash = ?${lock}`,
    loginHashOf(login),
  );
  return row && toPerson(row);
}

/** A page of all people, ordered by personId, and their number. */
export async function listPeople(
  sql: Sql,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ people: CountedPerson[]; total: number }> {
  const rows = await sql.all<Row<CountedPerson>>(
    `SELECT ${COLUMNS}, (SELECT COUNT(*) FROM person_tokens t WHERE t.person_id = p.person_id) AS tokens,
       (SELECT MAX(t.last_used_at) FROM person_tokens t WHERE t.person_id = p.person_id) AS "lastUsedAt"
     FROM people p ORDER BY p.person_id LIMIT ? OFFSET ?`,
    limit,
    offset,
  );
  return { people: rows.map(toPerson<CountedPerson>), total: await countPeople(sql) };
}

export async function countPeople(sql: Sql): Promise<number> {
  return (await sql.get<{ total: number }>('SELECT COUNT(*) AS total FROM people'))?.total ?? 0;
}

/** Returns false when the personId is taken. */
export async function insertPerson(sql: Sql, person: Person): Promise<boolean> {
  const { personId, name, role, disabled, createdAt, login } = person;
  const inserted = await sql.run(
    `INSERT INTO people (person_id, name, role, disabled, created_at, issuer, subject, login_hash, no_role)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (person_id) DO NOTHING`,
    personId,
    name,
    role,
    disabled ? 1 : 0,
    createdAt,
    login?.issuer ?? null,
    login?.subject ?? null,
    login && loginHashOf(login),
    login?.hasRole === false ? 1 : 0,
  );
  return inserted === 1;
}

export async function updatePerson(sql: Sql, { personId, name, role, disabled, login }: Person): Promise<void> {
  await sql.run(
    'UPDATE people SET name = ?, role = ?, disabled = ?, no_role = ? WHERE person_id = ?',
    name,
    role,
    disabled ? 1 : 0,
    login?.hasRole === false ? 1 : 0,
    personId,
  );
}

/** Deletes a person with all tokens. */
export async function deletePerson(sql: Sql, personId: string): Promise<void> {
  await sql.run('DELETE FROM person_tokens WHERE person_id = ?', personId);
  await sql.run('DELETE FROM people WHERE person_id = ?', personId);
}

/** Counts the owners who are not disabled, and those of them who have a token that is valid at `now`. */
export async function countOwners(sql: Sql, now: Micros): Promise<{ owners: number; withToken: number }> {
  const row = await sql.get<{ owners: number; withToken: number }>(
    `SELECT COUNT(*) AS owners, COUNT(t.person_id) AS "withToken" FROM people p
     LEFT JOIN (SELECT DISTINCT person_id FROM person_tokens WHERE expires_at IS NULL OR expires_at > ?) t
       ON t.person_id = p.person_id
     WHERE p.role = 'owner' AND p.disabled = 0`,
    now,
  );
  return row ?? { owners: 0, withToken: 0 };
}

/** Locks the row that stands for the owners and the administrator token. Returns whether that token is accepted. */
export async function lockAdministration(sql: Sql, lock: Lock = ''): Promise<boolean> {
  await sql.run('INSERT INTO administration (one, token_accepted) VALUES (1, 1) ON CONFLICT (one) DO NOTHING');
  const row = await sql.get<{ accepted: number }>(
    `SELECT token_accepted AS accepted FROM administration WHERE one = ?${lock}`,
    1,
  );
  return row?.accepted !== 0;
}

/** Whether the administrator token of the settings is accepted. */
export async function isTokenAccepted(sql: Sql): Promise<boolean> {
  const row = await sql.get<{ accepted: number }>(
    'SELECT token_accepted AS accepted FROM administration WHERE one = 1',
  );
  return row?.accepted !== 0;
}

/** How owners can sign in. */
export interface WayIn {
  /** Whether the administrator token of the settings is accepted. */
  token: boolean;
  /** When the last token of an owner expires; null: never; undefined: there is no such token. */
  until: Micros | null | undefined;
}

/** Looks how owners can sign in, by tokens that may have expired. */
export async function findWayIn(sql: Sql): Promise<WayIn> {
  const row = await sql.get<{ tokens: number; expiring: number; until: Micros | null }>(
    `SELECT COUNT(*) AS tokens, COUNT(t.expires_at) AS expiring, MAX(t.expires_at) AS until
     FROM people p JOIN person_tokens t ON t.person_id = p.person_id WHERE p.role = 'owner' AND p.disabled = 0`,
  );
  const { tokens = 0, expiring = 0, until = null } = row ?? {};
  return {
    token: await isTokenAccepted(sql),
    until: tokens === 0 ? undefined : tokens > expiring ? null : until,
  };
}

export async function acceptToken(sql: Sql, accepted: boolean): Promise<void> {
  await sql.run('UPDATE administration SET token_accepted = ? WHERE one = 1', accepted ? 1 : 0);
}
