import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { matches, type StreamFilter } from './stream-filter.ts';
import { findEvents, findNewest, findRemovedUpTo, type StoredEvent } from './stream-repository.ts';
import { createWaitingReaders, type ReaderOwner } from './waiting-readers.ts';

/** The most events that are read from the database at a time, and the bytes after which a page ends. */
const EVENTS_PER_READ = 100;
const BYTES_OF_PAGE = 1024 * 1024;
/** The most reads of one page: as many as fill the longest one. A filter that nothing matches would look at all events. */
const READS_OF_PAGE = 10;

/** The next events of a reader. */
export interface EventPage {
  events: StoredEvent[];
  /** The number after which the next page begins. */
  next: number;
  /** Whether there may be more events already; also a page that has none can say so, behind a filter. */
  more: boolean;
}

/** The wish of a reader. */
export interface Reading extends StreamFilter {
  /** The number of the last event that the reader has; 0 is the beginning of the stream. */
  after: number;
  /** The most events. */
  limit: number;
}

interface Parts {
  database: Pick<Database, 'read' | 'aside' | 'shared' | 'decidedEvents'>;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused' | 'eventReadersWaiting'>;
}

export type Stream = ReturnType<typeof createStream>;

/**
 * The events of an application in order: each is one row, stored in the commit that made it, whether or not it is also sent
 * to a URL. A reader names the last event that it has, and gets those behind it. A page never has an event behind one that
 * may still be committed, so a reader passes over none.
 */
export function createStream({ database, clock, log, metrics }: Parts) {
  const readers = createWaitingReaders({ database, clock, log, metrics });
  /** The ends of the readers that wait, with the page that they get then. */
  const ends = new Set<() => void>();
  let closed = false;

  async function readOnce(applicationId: string, { after, limit, ...filter }: Reading): Promise<EventPage> {
    // The end of the whole stream, also for a reader of one device: it has then seen that no more of its events are there. It
    // is read before the events, so that one which comes meanwhile belongs to the next page.
    const upTo = await findNewest(database.read, applicationId, await database.decidedEvents());
    const events: StoredEvent[] = [];
    let [next, bytes, more] = [after, 0, after < upTo];
    for (let reads = 0; more && events.length < limit && bytes < BYTES_OF_PAGE && reads < READS_OF_PAGE; reads += 1) {
      const wanted = Math.min(EVENTS_PER_READ, limit - events.length);
      const part = await findEvents(database.read, applicationId, filter, { after: next, upTo, limit: wanted });
      events.push(...part.events);
      for (const { body } of part.events) bytes += body.length;
      more = part.more;
      next = part.examined;
      if (part.events.length === 0 && events.length > 0) break;
    }
    return { events, next, more };
  }

  async function read(applicationId: string, reading: Reading): Promise<EventPage> {
    const { after } = reading;
    for (let known = await findRemovedUpTo(database.read, applicationId); ; ) {
      if (after > 0 && after < known) throw new DomainError('EVENTS_REMOVED', { values: { after, removed: known } });
      const page = await readOnce(applicationId, reading);
      // Events that were removed meanwhile may be missing at the beginning of the page, or between two of its reads.
      const removed = await findRemovedUpTo(database.read, applicationId);
      if (removed === known) return page;
      known = removed;
    }
  }

  return {
    appended: readers.appended,

    /**
     * The next page of a reader. Throws EVENTS_REMOVED when events behind `after` may have been removed, because they were
     * older than they are kept.
     */
    read,

    /** The end of the stream of an application: the number of its newest event that a reader may see, or has seen; 0: none. */
    newest: async (applicationId: string): Promise<number> =>
      findNewest(database.read, applicationId, await database.decidedEvents()),

    /**
     * Waits for the first event behind `after`, for at most `waitMs`. Resolves to an empty page after that time, and when the
     * service stops; with undefined after `leave`. Throws RATE_LIMITED. `isOwn`: the service itself waits, for an endpoint.
     */
    wait(
      owner: ReaderOwner,
      reading: Reading,
      waitMs: number,
      isOwn = false,
    ): { page: Promise<EventPage | undefined>; leave(): void } {
      const { promise, resolve } = Promise.withResolvers<EventPage | undefined>();
      let { after } = reading;
      const empty = (): void => settle({ events: [], next: after, more: false });
      const look = async (): Promise<boolean> => {
        let page: EventPage;
        do {
          page = await read(owner.applicationId, { ...reading, after });
          after = page.next;
        } while (page.events.length === 0 && page.more);
        if (page.events.length > 0) settle(page);
        return page.events.length > 0;
      };
      const remove = readers.add(owner, { wants: (event) => matches(reading, event), look, isOwn });
      const cancel = clock.after(waitMs, empty);
      function settle(page: EventPage | undefined): void {
        cancel();
        remove();
        ends.delete(empty);
        resolve(page);
      }
      ends.add(empty);
      if (closed) empty();
      return { page: promise, leave: () => settle(undefined) };
    },

    idle: readers.idle,

    /** Answers all readers that wait. */
    async [Symbol.asyncDispose](): Promise<void> {
      closed = true;
      readers.stop();
      for (const end of ends) end();
      await readers.idle();
    },
  };
}
