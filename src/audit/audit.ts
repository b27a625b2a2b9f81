import type { Clock } from '../clock.ts';
import type { PageQuery } from '../database/newest-first.ts';
import type { Database } from '../database/sql.ts';
import type { Log } from '../log.ts';
import { withoutSecrets } from '../without-secrets.ts';
import {
  type Actor,
  type AuditFilter,
  completeEntry,
  detailEntry,
  insertEntry,
  listEntries,
} from './audit-repository.ts';

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
  /** Its answer has this status; never rejects. */
  ended(status: number): Promise<void>;
  /** How many it changed, where it is many; never rejects. */
  changed(details: object): Promise<void>;
}

export type Audit = ReturnType<typeof createAudit>;

/**
 * Who changed what, and when. The entry is committed before the change is carried out, so there is no change without one,
 * whatever happens to the process; its status follows before the answer is sent. Nothing takes an entry back, and none has a
 * body, so there is no secret in it.
 */
export function createAudit({ database, clock, log }: Parts) {
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
        ended: (status) => add(auditId, (sql) => completeEntry(sql, auditId, status)),
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
