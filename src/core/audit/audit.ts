import type { PageQuery } from '../../platform/database/newest-first.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { withoutSecrets } from '../../runtime/without-secrets.ts';
import {
  type Actor,
  type AuditFilter,
  completeEntry,
  detailEntry,
  insertEntry,
  listEntries,
  replaceByCount,
} from './audit-repository.ts';

/** Microseconds in which refusals of an application, of one route and for one error, are one entry. */
const COUNTED_FOR = 60_000_000;
/** Of so many kinds at once; the one that began first is forgotten, and its next refusal has an entry of its own. */
const KEPT_REFUSALS = 10_000;
/** Characters of a path that are kept. */
const LONGEST_RESOURCE = 1024;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
}

/** A request that changes something. */
interface Change {
  actor: Actor;
  method: string;
  /** The template of the path, and the path. */
  route: string;
  path: string;
  requestId: string;
}

/** Something that nobody asked for. */
interface Note {
  action: string;
  resource: string;
  /** Instead of a request's. */
  id: string;
  details: object;
}

/** What is still to be said of it. */
export interface Begun {
  /** Its answer has this status, and this error; never rejects. */
  ended(status: number, code?: string): Promise<void>;
  /** How many it changed, where it is many; never rejects. */
  changed(details: object): Promise<void>;
}

export type Audit = ReturnType<typeof createAudit>;

/**
 * Who changed what, and when. The entry is committed before the change is carried out, so there is no change without one,
 * whatever happens to the process; its status follows before the answer is sent. No entry of a change that was carried out is
 * taken back. What an application is refused again within a minute is counted in the entry of the first: else it could
 * fill the disk with what it may not do. None has a body, so there is no secret in it.
 */
export function createAudit({ database, clock, log }: Parts) {
  /** By application, route and error: the entry of the first, and how often it was refused again. */
  const refusals = new Map<string, { auditId: number; at: number; repeated: number }>();

  /** The refusal that this one is a repetition of; undefined when it is the first of its minute. */
  function countRefusal(kind: string, auditId: number) {
    const now = clock.now();
    const first = refusals.get(kind);
    if (first && now - first.at < COUNTED_FOR) {
      first.repeated += 1;
      return first;
    }
    refusals.delete(kind);
    refusals.set(kind, { auditId, at: now, repeated: 0 });
    if (refusals.size > KEPT_REFUSALS) refusals.delete(refusals.keys().next().value as string);
    return undefined;
  }

  async function add(
    auditId: number,
    write: (sql: Parameters<typeof completeEntry>[0]) => Promise<void>,
  ): Promise<void> {
    try {
      await database.transact(write);
    } catch (err) {
      log.error({ err, auditId }, 'the end of a change could not be written to the audit log');
    }
  }

  return {
    /** Writes that a change begins. Rejects when that cannot be written: then it must not be carried out. */
    async begin({ actor, method, route, path, requestId }: Change): Promise<Begun> {
      const row = {
        at: clock.now(),
        actorKind: actor.kind,
        actorName: actor.name,
        action: `${method} ${route}`,
        resource: path.slice(0, LONGEST_RESOURCE),
        requestId,
      };
      const auditId = await database.transact((unit) => insertEntry(unit, row));
      return {
        async ended(status, code) {
          const isCounted = actor.kind === 'application' && code !== undefined && status >= 400 && status < 500;
          const first = isCounted ? countRefusal(`${actor.name} ${row.action} ${code}`, auditId) : undefined;
          if (!first) return add(auditId, (sql) => completeEntry(sql, auditId, status));
          const details = JSON.stringify({ code, repeated: first.repeated });
          await add(auditId, (sql) => replaceByCount(sql, auditId, first.auditId, details));
        },
        changed: (details) => add(auditId, (sql) => detailEntry(sql, auditId, JSON.stringify(withoutSecrets(details)))),
      };
    },

    /** What the service itself did; never rejects. */
    async noted({ action, resource, id, details }: Note): Promise<void> {
      const row = { at: clock.now(), actorKind: 'service', actorName: null, action, resource, requestId: id } as const;
      try {
        await database.transact(async (unit) =>
          detailEntry(unit, await insertEntry(unit, row), JSON.stringify(details)),
        );
      } catch (err) {
        log.error({ err, action, details }, 'what the service did could not be written to the audit log');
      }
    },

    /** A page, the newest first. */
    list: (filter: AuditFilter & PageQuery<number>) => listEntries(database.read, filter),
  };
}
