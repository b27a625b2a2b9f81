import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { LapelError } from './lapel-error.ts';
import type { Operations } from './operations.ts';
import type { TransportOptions } from './transport.ts';

export type StreamEvent = SchemaTypes['rest/stream-event'];

/** The events that a program wants, and where it begins. */
export interface EventsInput {
  /**
   * The name under which the service keeps the place of the program, so that it goes on there after a restart. The consumer
   * is made if there is none.
   */
  consumer?: string;
  /** The `sequence` of the last event that the program has; without `consumer` only. */
  after?: number;
  /** Where a program without a place begins: at the oldest event that is kept (the default), or behind the newest one. */
  from?: 'oldest' | 'latest';
  /** Types, such as `custom.sos`, or beginnings of types with `.*` at the end. */
  types?: readonly string[];
  deviceId?: string;
  /** False: it ends at the end of the stream, instead of waiting for further events. */
  follow?: boolean;
  /** It ends when so many events were handled. */
  limit?: number;
  /** Called when the service does not answer, before each further try. */
  onTrouble?: (error: unknown) => void;
  signal?: AbortSignal;
}

type Calls = {
  [N in 'listEvents' | 'readConsumer' | 'moveConsumer']: (
    input: Operations[N]['input'] & { signal?: AbortSignal },
  ) => Promise<Operations[N]['answer']>;
};

// Seconds that the service waits for an event: less than the time after which a call is given up, and than the idle time of
// usual proxies (60 s).
const WAIT = 50;
// The most events of a page; a page of large ones ends earlier.
const PAGE = 500;
// Milliseconds: how often the place is stored while events are handled, and the pauses while the service does not answer.
const STORED_EVERY = 1_000;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

/** Whether the same call may succeed later: nobody has answered, or the service or a proxy is not at work. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof LapelError) || error.status === 429 || error.status >= 502;

/**
 * Yields the events of the application in order, and waits for further ones. An event counts as handled when the next one is
 * asked for; then the place of the consumer is stored, once a second and at the end of each page. After a crash the events
 * since then come again, with the same `eventId`. While the service does not answer, it tries again, for as long as it takes.
 * Throws LapelError: EVENTS_REMOVED when the program was away for longer than events are kept; CONSUMER_AHEAD when another
 * program with the same consumer is further.
 */
export async function* readEvents(
  calls: Calls,
  { pause, now }: Required<Pick<TransportOptions, 'pause'>> & { now: () => number },
  {
    consumer,
    follow = true,
    from = 'oldest',
    limit = Number.POSITIVE_INFINITY,
    types,
    onTrouble,
    ...wanted
  }: EventsInput,
): AsyncGenerator<StreamEvent> {
  const { deviceId, signal } = wanted;
  const more = signal ? { signal } : {};
  const filter = { ...(types && { types: types.join(',') }), ...(deviceId !== undefined && { deviceId }) };

  /** Makes a call until it is answered. */
  async function surely<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
      try {
        return await call();
      } catch (error) {
        if (signal?.aborted || !mayPass(error)) throw error;
        onTrouble?.(error);
        await pause(wait, signal);
      }
    }
  }

  const latest = async (): Promise<number> => (await calls.listEvents({ query: { from: 'latest' }, ...more })).next;

  async function begin(): Promise<number> {
    if (consumer === undefined) return wanted.after ?? (from === 'latest' ? latest() : 0);
    try {
      return (await calls.readConsumer({ consumer, ...more })).after;
    } catch (error) {
      if (!(error instanceof LapelError) || error.code !== 'CONSUMER_NOT_FOUND') throw error;
      const after = from === 'latest' ? await latest() : 0;
      return (await calls.moveConsumer({ consumer, body: { after }, ...more })).after;
    }
  }

  let stored = await surely(begin);
  let handled = stored;
  let storedAt = now();
  async function store(): Promise<void> {
    if (consumer === undefined || handled <= stored) return;
    await surely(() => calls.moveConsumer({ consumer, body: { after: handled }, ...more }));
    [stored, storedAt] = [handled, now()];
  }

  try {
    let left = limit;
    for (let wait = 0; ; ) {
      const query = { after: handled, wait, limit: Math.min(left, PAGE), ...filter };
      const page = await surely(() => calls.listEvents({ query, ...more }));
      for (const event of page.events) {
        yield event;
        handled = event.sequence;
        left -= 1;
        if (left <= 0) return;
        if (now() - storedAt >= STORED_EVERY) await store();
      }
      handled = Math.max(handled, page.next); // also past events that the filter leaves out
      await store();
      if (!page.more && !follow) return;
      wait = page.more ? 0 : WAIT;
    }
  } finally {
    // The loop may have ended in the middle of a page. If the service does not answer now, the events come again.
    if (!signal?.aborted && handled > stored && consumer !== undefined)
      await calls.moveConsumer({ consumer, body: { after: handled } }).catch(() => undefined);
  }
}
