import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { findFresh } from './stream-repository.ts';

/** The most readers that wait, of all developers together; and of one application. */
export const MOST_WAITING = 10_000;
export const MOST_WAITING_OF_APPLICATION = 64;
/** Milliseconds between two looks for events that other nodes have stored, or that are not decided yet. */
const LOOK_AGAIN_MS = 1_000;
/** The most applications in one query of such a look. */
const AT_ONCE = 1_000;

/** The application that reads. */
export interface ReaderOwner {
  applicationId: string;
  developerId: string;
}

/** A new event. */
export interface Appended {
  applicationId: string;
  deviceId: string;
  type: string;
}

/** A reader that waits for events. `look` reads its page, and tells whether the reader is served. */
interface Waiting extends ReaderOwner {
  /** Whether such an event is one for this reader. */
  wants(event: Appended): boolean;
  look(): Promise<boolean>;
  /** Whether the service itself reads, for an endpoint; it counts for no bound of readers. */
  isOwn: boolean;
  /** Whether a look is running, and whether an event came meanwhile. */
  looking: boolean;
  again: boolean;
}

interface Parts {
  database: Pick<Database, 'shared' | 'aside' | 'decidedEvents'>;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused' | 'eventReadersWaiting'>;
}

/**
 * Readers that wait for events of their application. The commit of an event wakes those whose filter it matches; with several
 * nodes one query a second looks for events of other nodes, however many readers wait. A reader that waits costs no query
 * of its own.
 */
export function createWaitingReaders({ database, clock, log, metrics }: Parts) {
  const byApplication = new Map<string, Set<Waiting>>();
  const byDeveloper = new Map<string, number>();
  const work = createWork();
  let all = 0;
  /** The number up to which the last look of all nodes has seen events. */
  let seen = 0;
  let cancel: (() => void) | undefined;

  function requireRoom({ applicationId, developerId }: ReaderOwner): void {
    const own = [...(byApplication.get(applicationId) ?? [])].filter(({ isOwn }) => !isOwn).length;
    const ofDeveloper = byDeveloper.get(developerId) ?? 0;
    // As much as a developer uses must stay free for others.
    const isFull = own >= MOST_WAITING_OF_APPLICATION || all >= MOST_WAITING || ofDeveloper > MOST_WAITING - all;
    if (!isFull) return;
    metrics.httpRefused.inc({ bound: 'waiting_event_readers' });
    throw new DomainError('RATE_LIMITED', { values: { seconds: 1 } });
  }

  function remove(one: Waiting): void {
    const own = byApplication.get(one.applicationId);
    if (!own?.delete(one)) return;
    if (own.size === 0) byApplication.delete(one.applicationId);
    if (one.isOwn) return;
    const left = (byDeveloper.get(one.developerId) ?? 1) - 1;
    if (left === 0) byDeveloper.delete(one.developerId);
    else byDeveloper.set(one.developerId, left);
    all -= 1;
    metrics.eventReadersWaiting.set(all);
  }

  async function look(one: Waiting): Promise<void> {
    if (one.looking) {
      one.again = true;
      return;
    }
    one.looking = true;
    work.begun();
    try {
      do {
        one.again = false;
        if (await one.look()) remove(one);
      } while (one.again && byApplication.get(one.applicationId)?.has(one));
    } catch (err) {
      // The reader goes on to wait: it is served with the next event, or gets an empty page at its time.
      log.debug({ err, applicationId: one.applicationId }, 'the events of a reader could not be read');
    } finally {
      one.looking = false;
      work.ended();
    }
  }

  const wake = (applicationId: string): void => byApplication.get(applicationId)?.forEach((one) => void look(one));

  // Only those for whom it is: a look costs some queries, and an application may have many readers of events that are rare.
  const appended = (event: Appended): void =>
    byApplication.get(event.applicationId)?.forEach((one) => {
      if (one.wants(event)) void look(one);
    });

  /** Finds waiting applications that have events since the last such look. */
  async function lookForAll(): Promise<void> {
    const upTo = await database.decidedEvents();
    if (upTo === seen) return;
    const waiting = [...byApplication.keys()];
    for (let at = 0; at < waiting.length; at += AT_ONCE)
      for (const applicationId of await findFresh(database.aside, waiting.slice(at, at + AT_ONCE), seen, upTo))
        wake(applicationId);
    seen = upTo;
  }

  function schedule(): void {
    if (!database.shared || cancel || byApplication.size === 0) return;
    cancel = clock.after(LOOK_AGAIN_MS, () => {
      work.begun();
      void lookForAll()
        .catch((err: unknown) => log.debug({ err }, 'new events could not be looked for'))
        .finally(() => {
          cancel = undefined;
          schedule();
          work.ended();
        });
    });
  }

  return {
    /** Called after the commit of an event. */
    appended,

    /**
     * Adds a reader, and looks at once, because an event may have come since its page was read. Returns the function that
     * removes it. Throws RATE_LIMITED.
     */
    add(owner: ReaderOwner, { wants, look: lookOf, isOwn }: Pick<Waiting, 'wants' | 'look' | 'isOwn'>): () => void {
      if (!isOwn) requireRoom(owner);
      const one: Waiting = { ...owner, wants, look: lookOf, isOwn, looking: false, again: false };
      const own = byApplication.get(owner.applicationId) ?? new Set();
      byApplication.set(owner.applicationId, own.add(one));
      if (!isOwn) {
        byDeveloper.set(owner.developerId, (byDeveloper.get(owner.developerId) ?? 0) + 1);
        all += 1;
        metrics.eventReadersWaiting.set(all);
      }
      void look(one);
      schedule();
      return () => remove(one);
    },

    idle: work.idle,
    stop(): void {
      cancel?.();
      cancel = () => undefined; // no further look is scheduled
    },
  };
}
