import { type AuditEntry, type AuditObject, objectsOfEntries } from '../core/audit/audit-repository.ts';
import { IN_LIST, inLists } from '../platform/database/in-lists.ts';
import type { Database, Sql } from '../platform/database/sql.ts';

/** An object with the name that people have given it; null when it has none, or no longer exists. */
export interface NamedObject extends AuditObject {
  name: string | null;
}

/** An entry of the audit log, with names. */
export interface NamedEntry extends AuditEntry {
  /** The name of the person or the application that made the change. */
  displayName: string | null;
  objects: NamedObject[];
}

/** Where the names of objects are. Devices have none. */
const NAMES: Readonly<Partial<Record<AuditObject['kind'], string>>> = {
  developer: 'SELECT developer_id AS id, name FROM developers WHERE developer_id IN',
  application: 'SELECT application_id AS id, name FROM applications WHERE application_id IN',
  rollout: 'SELECT rollout_id AS id, label AS name FROM rollouts WHERE rollout_id IN',
  person: 'SELECT person_id AS id, name FROM people WHERE person_id IN',
};

async function namesOf(
  sql: Sql,
  kind: AuditObject['kind'],
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  const names = new Map<string, string | null>();
  const text = NAMES[kind];
  if (text === undefined) return names;
  for (const list of inLists(ids))
    for (const { id, name } of await sql.all<{ id: string; name: string | null }>(`${text} ${IN_LIST}`, ...list))
      names.set(id, name);
  return names;
}

/** Makes the function that adds the names of people's objects to entries of the audit log. */
export function createAuditNames({ database: { aside } }: { database: Pick<Database, 'aside'> }) {
  return async (entries: readonly AuditEntry[]): Promise<NamedEntry[]> => {
    const objects = await objectsOfEntries(
      aside,
      entries.map(({ auditId }) => auditId),
    );
    const ids = new Map<AuditObject['kind'], Set<string>>();
    const add = ({ kind, id }: AuditObject): unknown => ids.set(kind, (ids.get(kind) ?? new Set()).add(id));
    for (const { auditId, actorKind, actorName } of entries) {
      if (actorKind === 'application' && actorName !== null) add({ kind: 'application', id: actorName });
      for (const object of objects.get(auditId) ?? []) add(object);
    }
    const names = new Map<string, string | null>();
    for (const [kind, some] of ids)
      for (const [id, name] of await namesOf(aside, kind, [...some])) names.set(`${kind} ${id}`, name);
    return entries.map((entry) => ({
      ...entry,
      displayName: entry.personName ?? names.get(`${entry.actorKind} ${entry.actorName}`) ?? null,
      objects: (objects.get(entry.auditId) ?? []).map((object) => ({
        ...object,
        name: names.get(`${object.kind} ${object.id}`) ?? null,
      })),
    }));
  };
}

export type AuditNames = ReturnType<typeof createAuditNames>;
