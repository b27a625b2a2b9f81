import { eventsOf, type StreamEvent } from './event-stream.ts';
import { batchesOf } from './feed-batches.ts';
import { credentials, operation } from './requests.ts';
import { ended, resume, session } from './session.ts';

/**
 * The state of the streams of changes. `opening`: not all values have arrived. `live`: the page is up to date. `away`: the
 * service cannot be reached, and a retry follows. `full`: the service has no room for another stream, and a retry
 * follows. `refused`: the session may not read a topic.
 */
export type StreamState = 'opening' | 'live' | 'away' | 'full' | 'refused';

interface Stream {
  stop: AbortController;
  state: StreamState;
}

interface Parts {
  told(event: StreamEvent): void;
  /** Called when the state changes; `breaks` is the number of interruptions so far, in which changes were missed. */
  changed(state: StreamState, breaks: number): void;
}

/**
 * Milliseconds without any data after which a stream is considered dead; the service sends a sign of life every 10 s.
 */
const SILENCE = 25_000;
const RETRY = 1_000;
const RETRY_FULL = 10_000;
/** The states from best to worst; the worst of a stream is that of all. */
const ORDER: readonly StreamState[] = ['live', 'refused', 'opening', 'full', 'away'];

function pause(milliseconds: number, stopped: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  stopped.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}

/** Opens a stream and reads it to its end. Returns the state that it is in afterwards. */
async function readStream(
  wanted: string,
  stopped: AbortSignal,
  told: (event: StreamEvent) => void,
): Promise<StreamState> {
  const silent = new AbortController();
  let alarm: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(alarm);
    alarm = setTimeout(() => silent.abort(), SILENCE);
  };
  try {
    heard();
    const response = await fetch(`${operation('readFeed').path}?topics=${encodeURIComponent(wanted)}`, {
      headers: { Accept: 'text/event-stream', ...credentials() },
      cache: 'no-store',
      signal: AbortSignal.any([stopped, silent.signal]),
    });
    if (response.status === 401) ended();
    if (response.status === 429) return 'full';
    if (!response.ok) return response.status < 500 ? 'refused' : 'away';
    const sign = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, to) {
        heard();
        to.enqueue(piece);
      },
    });
    const watched = new Response(response.body?.pipeThrough(sign) ?? null);
    for await (const event of eventsOf(watched)) if (!stopped.aborted) told(event);
    return 'away';
  } catch {
    return 'away';
  } finally {
    clearTimeout(alarm);
  }
}

export type Streams = ReturnType<typeof createStreams>;

/** Keeps the streams open that the wanted topics need: one, unless there are more names than a stream may have. */
export function createStreams({ told, changed }: Parts) {
  const streams = new Map<string, Stream>();
  let wanted: readonly string[] = [];
  let breaks = 0;

  /** Tells the state of the wanted streams. When all are open, streams that are no longer wanted are closed. */
  function settle(): void {
    const states = wanted.map((text) => streams.get(text)?.state ?? 'opening');
    const state = ORDER.findLast((one) => states.includes(one)) ?? 'opening';
    if (state !== 'opening')
      for (const [text, stream] of streams)
        if (!wanted.includes(text)) {
          streams.delete(text);
          stream.stop.abort();
        }
    if (wanted.length > 0) changed(state, breaks);
  }

  async function follow(text: string, stream: Stream): Promise<void> {
    const { signal } = stream.stop;
    const enter = (state: StreamState): void => {
      if (signal.aborted) return;
      stream.state = state;
      settle();
    };
    while (!signal.aborted) {
      const state = await readStream(text, signal, (event) => {
        told(event);
        if (event.event !== 'snapshot') return;
        // A later snapshot stands for changes that the service could not send: not all of them are among its rows.
        if (stream.state === 'live') breaks += 1;
        enter('live');
      });
      if (signal.aborted || !session.peek()) return;
      breaks += 1;
      enter(state);
      if (state === 'refused') return;
      await pause(state === 'full' ? RETRY_FULL : RETRY, signal);
      // Also when another stream has taken over meanwhile: this one may have ended because a role has changed.
      while (!(await resume()) && !signal.aborted) await pause(RETRY, signal);
      if (!session.peek()) return;
    }
  }

  function open(text: string): void {
    const stream: Stream = { stop: new AbortController(), state: 'opening' };
    streams.set(text, stream);
    void follow(text, stream);
  }

  function close(): void {
    for (const { stop } of streams.values()) stop.abort();
    streams.clear();
  }

  return {
    /**
     * Follows these topics from now on. A new stream is open before the one that it replaces is closed, so that windows
     * whose topics stay miss nothing.
     */
    want(topics: readonly string[]): void {
      wanted = batchesOf(topics);
      for (const text of wanted) if (!streams.has(text)) open(text);
      if (wanted.length === 0) close();
      else settle();
    },
    /** Opens all streams again, because they may be dead. */
    restart(): void {
      close();
      breaks += 1;
      for (const text of wanted) open(text);
      settle();
    },
    close,
  };
}
