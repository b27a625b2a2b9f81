import { withoutSecrets } from '@lapel/schemas/base/without-secrets';
import type { Metrics } from '../../metrics.ts';
import type { PageQuery } from '../../platform/database/newest-first.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros } from '../../runtime/units.ts';
import { withoutUrls } from '../../runtime/without-urls.ts';
import { checkChain, sealEntry } from './audit-chain.ts';
import { objectsOf } from './audit-objects.ts';
import {
  type AuditFilter,
  type AuditObject,
  completeEntry,
  detailEntry,
  insertEntry,
  insertObject,
  listEntries,
  replaceByCount,
} from './audit-repository.ts';
import type { Actor } from './audit-row.ts';
import { findAbandoned, findChain, findEnd } from './chain-repository.ts';
import { createWaitingNotes } from './waiting-notes.ts';

/** Milliseconds within which the same refusals (of an application, on a route, with an error) share one entry. */
const COUNTED_FOR_MS = 60_000;
/**
 * Microseconds after which a request has ended in any case, and milliseconds between two searches for entries whose
 * process was killed before.
 */
const ABANDONED_AFTER_MICROS = 2 * 3_600_000_000;
const BETWEEN_SEARCHES_MS = 3_600_000;
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
  metrics: Pick<Metrics, 'auditNotesLost'>;
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
  /** The assistant that asked for the author, as it calls itself, and its tool; stored with the details. */
  via?: { assistant: string; tool: string } | undefined;
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
  /** The address of the client, and the time, of requests that the note is about. */
  address?: string | null;
  at?: Micros;
}

/** Adds the result to the audit entry of a change, which was stored before the change began. */
export interface Begun {
  /**
   * Stores the status and the error of the answer, and seals the entry; never rejects. With `isOpen`, details still come
   * while the answer is sent, and `closed` seals the entry.
   */
  ended(status: number, code?: string, isOpen?: boolean): Promise<void>;
  /** Seals the entry, after an answer that was open; never rejects. */
  closed(): Promise<void>;
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
 * fill the disk with refused requests. No entry holds a body, so none holds a secret. A complete entry is sealed: it becomes
 * part of a chain of hashes, and the database refuses to change it. The entry of a refusal is complete after its minute.
 */
export function createAudit({ database, clock, log, metrics }: Parts) {
  /** By application, route and error: the entry of the first refusal, and the number of repetitions. */
  const refusals = new Map<string, { auditId: number; repeated: number; cancel(): void }>();
  let cancelSearch = (): void => undefined;
  let sealed = (): void => undefined;

  async function sealIn(unit: UnitOfWork, auditId: number): Promise<void> {
    await sealEntry(unit, auditId);
    unit.onCommit(sealed);
  }

  const seal = (auditId: number): Promise<void> => add(auditId, (unit) => sealIn(unit, auditId));

  /** Ends the minute of a refusal: its entry is complete. */
  function close(kind: string): void {
    const first = refusals.get(kind);
    if (!first) return;
    refusals.delete(kind);
    first.cancel();
    void seal(first.auditId);
  }

  /** Returns the entry of the first such refusal within the last minute; undefined when this refusal is the first. */
  function countRefusal(kind: string, auditId: number) {
    const first = refusals.get(kind);
    if (first) {
      first.repeated += 1;
      return first;
    }
    refusals.set(kind, { auditId, repeated: 0, cancel: clock.after(COUNTED_FOR_MS, () => close(kind)) });
    if (refusals.size > KEPT_REFUSALS) close(refusals.keys().next().value as string);
    return undefined;
  }

  /** Seals the entries of processes that were killed before they had answered. */
  async function sealAbandoned(): Promise<void> {
    const chain = await findChain(database.read);
    const before = clock.now() - ABANDONED_AFTER_MICROS;
    if (chain) for (const auditId of await findAbandoned(database.read, chain.firstId, before)) await seal(auditId);
  }

  function search(): void {
    cancelSearch = clock.after(BETWEEN_SEARCHES_MS, search);
    sealAbandoned().catch((err: unknown) => log.warn({ err }, 'open entries of the audit log could not be searched'));
  }

  async function add(auditId: number, write: (unit: UnitOfWork) => Promise<void>, whose?: string): Promise<void> {
    try {
      await database.transact(write, { whose });
    } catch (err) {
      log.error({ err, auditId }, 'the result of a change could not be written to the audit log');
    }
  }

  async function noteIn(unit: UnitOfWork, note: Note): Promise<void> {
    const { action, resource, id, details, about = [], address = null, at = clock.now() } = note;
    const auditId = await insertEntry(unit, {
      at,
      actorKind: 'service',
      actorName: null,
      personId: null,
      personName: null,
      tokenName: null,
      action,
      resource: resource.slice(0, LONGEST_RESOURCE),
      requestId: id,
      address,
    });
    detailEntry(unit, auditId, JSON.stringify(details));
    for (const object of about) insertObject(unit, auditId, object);
    await sealIn(unit, auditId);
  }

  const notes = createWaitingNotes<Note>({
    clock,
    log,
    metrics,
    store: (note) => database.transact((unit) => noteIn(unit, note)),
  });

  return {
    /** Stores that a change begins. Rejects when that fails; the change must then not be carried out. */
    async begin({ actor, method, route, path, requestId, address, via }: Change): Promise<Begun> {
      const row = {
        at: clock.now(),
        actorKind: actor.kind,
        actorName: actor.name,
        personId: actor.person?.personId ?? null,
        personName: actor.person?.name ?? null,
        tokenName: actor.person?.tokenName ?? null,
        action: `${method} ${route}`,
        resource: path.slice(0, LONGEST_RESOURCE),
        requestId,
        address,
      };
      const whose = `${actor.kind} ${actor.name}`;
      const auditId = await database.transact(
        async (unit) => {
          const entry = await insertEntry(unit, row);
          for (const object of objectsOf(route, path)) insertObject(unit, entry, object);
          return entry;
        },
        { whose },
      );
      const known = via === undefined ? {} : { via };
      let isDetailed = false;
      const addTo = (write: (unit: UnitOfWork) => Promise<void>): Promise<void> => add(auditId, write, whose);
      return {
        async ended(status, code, isOpen = false) {
          const isCounted = actor.kind === 'application' && code !== undefined && status >= 400 && status < 500;
          const first = isCounted
            ? countRefusal(`${actor.name} ${row.personId} ${row.action} ${code}`, auditId)
            : undefined;
          await addTo(async (unit) => {
            const details = first && JSON.stringify({ code, repeated: first.repeated });
            if (first && details && (await replaceByCount(unit, auditId, first.auditId, details))) return;
            completeEntry(unit, auditId, status);
            if (via && !isDetailed && !isOpen) detailEntry(unit, auditId, JSON.stringify(known));
            if (!isOpen && (!isCounted || first)) await sealIn(unit, auditId);
          });
        },
        closed: () => addTo((unit) => sealIn(unit, auditId)),
        changed: (details, about = []) =>
          addTo(async (unit) => {
            if (Object.keys(details).length > 0) {
              isDetailed = true;
              // An entry is never changed, so it cannot be encrypted anew: where secrets are, it has of a URL only the host.
              const shown = withoutSecrets({ ...details, ...known });
              detailEntry(unit, auditId, JSON.stringify(unit.vault.seals() ? withoutUrls(shown) : shown));
            }
            for (const object of about) insertObject(unit, auditId, object);
          }),
      };
    },

    /**
     * Stores a change that the service makes by itself, in the unit of work that makes it. It locks the chain, so the unit
     * calls it when it has locked everything else.
     */
    noteIn,

    /** Stores a change that the service made by itself; never rejects. While the database is away it waits. */
    noted: (note: Note): Promise<void> => notes.add({ ...note, at: note.at ?? clock.now() }),

    /** Registers the function that is called after a commit that has sealed an entry. */
    onSealed(act: () => void): void {
      sealed = act;
    },

    /** A page of entries, the newest first. */
    list: (filter: AuditFilter & PageQuery<number>) => listEntries(database.read, filter),

    /** The newest entry, and the position of the last sealed one: they differ after each change of the log. */
    end: () => findEnd(database.read),

    /** Checks all sealed entries, and an end of the chain that was noted before; see `checkChain`. */
    verify: (known?: { position: number; hash: string }) => checkChain(database.aside, known),

    /** Stopped before the parts that store their last notes when they end: those must not wait for the database. */
    waitingNotes: notes,

    start: search,
    async [Symbol.asyncDispose](): Promise<void> {
      cancelSearch();
      await notes[Symbol.asyncDispose]();
      for (const { cancel } of refusals.values()) cancel();
      // Their minutes have not ended, but this process counts no more.
      await Promise.all([...refusals.values()].map(({ auditId }) => seal(auditId)));
    },
  };
}
