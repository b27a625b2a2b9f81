import type { PageQuery } from '../../platform/database/newest-first.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { withoutSecrets } from '../../runtime/without-secrets.ts';
import { objectsOf } from './audit-objects.ts';
import {
  type Actor,
  type AuditFilter,
  type AuditObject,
  completeEntry,
  detailEntry,
  insertEntry,
  insertObject,
  listEntries,
  replaceByCount,
} from './audit-repository.ts';

/** Microseconds within which the same refusals (of an application, on a route, with an error) share one entry. */
const COUNTED_FOR_MICROS = 60_000_000;
/**
 * The most refusals whose repetitions are counted at a time. Above it the oldest is dropped from memory, and its next
 * repetition gets an entry of its own.
 */
const KEPT_REFUSALS = 10_000;
/** The most characters of a path that are stored. */
const LONGEST_RESOURCE = 1024;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
}

/** A request that changes data. */
interface Change {
  actor: Actor;
  method: string;
  /** The template of the request's path, such as `/devices/{deviceId}`; `path` is the path that was called. */
  route: string;
  path: string;
  requestId: string;
  /** The address of the client. */
  address: string;
}

/** A change that the service makes by itself. */
interface Note {
  action: string;
  resource: string;
  /** Identifies the change; stored in the column of the request id, because no request caused the change. */
  id: string;
  details: object;
  /** The objects that the change is about. */
  about?: readonly AuditObject[];
}

/** Adds the result to the audit entry of a change, which was stored before the change began. */
export interface Begun {
  /** Stores the status and the error of the answer; never rejects. */
  ended(status: number, code?: string): Promise<void>;
  /**
   * Stores details: how many rows the change affected, or their values before and after it, and the objects that the
   * path does not name, such as a new one. Never rejects.
   */
  changed(details: object, about?: readonly AuditObject[]): Promise<void>;
}

export type Audit = ReturnType<typeof createAudit>;

/**
 * The audit log: who changed what, and when. The entry is committed before the change, so that no change lacks one, whatever
 * happens to the process; its status follows before the answer is sent. Entries of completed changes are never removed early.
 * Repeated refusals of an application within a minute are counted in the entry of the first; otherwise an application could
 * fill the disk with refused requests. No entry holds a body, so none holds a secret.
 */
export function createAudit({ database, clock, log }: Parts) {
  /** By application, route and error: the entry of the first refusal, and the number of repetitions. */
  const refusals = new Map<string, { auditId: number; at: number; repeated: number }>();

  /** Returns the entry of the first such refusal within the last minute; undefined when this refusal is the first. */
  function countRefusal(kind: string, auditId: number) {
    const now = clock.now();
    const first = refusals.get(kind);
    if (first && now - first.at < COUNTED_FOR_MICROS) {
      first.repeated += 1;
      return first;
    }
    refusals.delete(kind);
    refusals.set(kind, { auditId, at: now, repeated: 0 });
    if (refusals.size > KEPT_REFUSALS) refusals.delete(refusals.keys().next().value as string);
    return undefined;
  }

  async function add(auditId: number, write: (unit: UnitOfWork) => Promise<void>): Promise<void> {
    try {
      await database.transact(write);
    } catch (err) {
      log.error({ err, auditId }, 'the result of a change could not be written to the audit log');
    }
  }

  async function noteIn(unit: UnitOfWork, { action, resource, id, details, about = [] }: Note): Promise<void> {
    const row = { at: clock.now(), action, resource, requestId: id };
    const auditId = await insertEntry(unit, { ...row, actorKind: 'service', actorName: null, address: null });
    await detailEntry(unit, auditId, JSON.stringify(details));
    for (const object of about) await insertObject(unit, auditId, object);
  }

  return {
    /** Stores that a change begins. Rejects when that fails; the change must then not be carried out. */
    async begin({ actor, method, route, path, requestId, address }: Change): Promise<Begun> {
      const row = {
        at: clock.now(),
        actorKind: actor.kind,
        actorName: actor.name,
        action: `${method} ${route}`,
        resource: path.slice(0, LONGEST_RESOURCE),
        requestId,
        address,
      };
      const auditId = await database.transact(async (unit) => {
        const entry = await insertEntry(unit, row);
        for (const object of objectsOf(route, path)) await insertObject(unit, entry, object);
        return entry;
      });
      return {
        async ended(status, code) {
          const isCounted = actor.kind === 'application' && code !== undefined && status >= 400 && status < 500;
          const first = isCounted ? countRefusal(`${actor.name} ${row.action} ${code}`, auditId) : undefined;
          if (!first) return add(auditId, (sql) => completeEntry(sql, auditId, status));
          const details = JSON.stringify({ code, repeated: first.repeated });
          await add(auditId, (sql) => replaceByCount(sql, auditId, first.auditId, details));
        },
        changed: (details, about = []) =>
          add(auditId, async (unit) => {
            if (Object.keys(details).length > 0)
              await detailEntry(unit, auditId, JSON.stringify(withoutSecrets(details)));
            for (const object of about) await insertObject(unit, auditId, object);
          }),
      };
    },

    /** Stores a change that the service makes by itself, in the unit of work that makes it. */
    noteIn,

    /** Stores a change that the service made by itself; never rejects. */
    async noted(note: Note): Promise<void> {
      try {
        await database.transact((unit) => noteIn(unit, note));
      } catch (err) {
        const { action, details } = note;
        log.error({ err, action, details }, 'an action of the service could not be written to the audit log');
      }
    },

    /** A page of entries, the newest first. */
    list: (filter: AuditFilter & PageQuery<number>) => listEntries(database.read, filter),
  };
}
