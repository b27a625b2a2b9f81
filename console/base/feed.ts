import { effect, signal } from '@preact/signals';
import { eventsOf, type StreamEvent } from './event-stream.ts';
import { credentials, operation } from './requests.ts';
import { ended, resume, session } from './session.ts';

/** A value that the service reports, because it has changed or belongs to the first snapshot of a watched topic. */
export interface Change {
  topic: string;
  key: string;
  value: unknown;
}

export interface Watcher {
  /** Called for each value; `first` is true for a value of the snapshot, and false for a change. */
  changed(change: Change, first: boolean): void;
  /** Called when messages of devices were not sent, because too many came; `dropped` is their number. */
  gap?(dropped: number): void;
}

/**
 * The state of the stream of changes. `off`: there is none. `live`: the page is up to date. `away`: the service cannot
 * be reached, and a retry follows. `full`: the service has no room for another stream, and a retry follows. `hidden`:
 * the page is not visible.
 */
export const feedState = signal<'off' | 'opening' | 'live' | 'away' | 'full' | 'hidden'>('off');
/**
 * Increases whenever values on the page may be outdated: with every new stream after the first, and when the page
 * becomes visible again.
 */
export const feedRound = signal(0);

const watchers = new Map<Watcher, string>();
const topics = signal('');
const shown = signal(!document.hidden);

/** Milliseconds after the last change of the watched topics, until a new stream with all of them is opened. */
const DEBOUNCE_MS = 60;
/**
 * Milliseconds without any data after which a stream is considered dead; the service sends a sign of life every 10 s.
 */
const SILENCE = 25_000;
const RETRY = 1_000;
const RETRY_FULL = 10_000;

let settling: ReturnType<typeof setTimeout> | undefined;
function collect(): void {
  clearTimeout(settling);
  settling = setTimeout(() => {
    topics.value = [...new Set(watchers.values())].filter(Boolean).sort().join(',');
  }, DEBOUNCE_MS);
}

/** Watches a topic of the feed until the returned function is called. */
export function watch(topic: string, watcher: Watcher): () => void {
  watchers.set(watcher, topic);
  collect();
  return () => {
    watchers.delete(watcher);
    collect();
  };
}

const nameOf = (topic: string): string => topic.split(':', 1)[0]!;

function handle({ event, data }: StreamEvent): void {
  if (event === 'gap') {
    const { dropped = 0 } = JSON.parse(data) as { dropped?: number };
    for (const watcher of watchers.keys()) watcher.gap?.(dropped);
    return;
  }
  if (event !== 'snapshot' && event !== 'change') return;
  for (const change of JSON.parse(data) as Change[]) {
    for (const [watcher, topic] of watchers)
      if (nameOf(topic) === change.topic) watcher.changed(change, event === 'snapshot');
  }
}

function pause(milliseconds: number, stopped: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  stopped.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}

/** Opens a stream for the topics `wanted` and reads it to its end. */
async function stream(wanted: string, stopped: AbortSignal): Promise<void> {
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
    if (response.status === 401) return ended();
    if (response.status === 429) feedState.value = 'full';
    else if (response.status < 500 && !response.ok) feedState.value = 'off'; // the session may not read this topic, so there is no retry
    if (!response.ok) return;
    feedState.value = 'live';
    const sign = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, to) {
        heard();
        to.enqueue(piece);
      },
    });
    const watched = new Response(response.body?.pipeThrough(sign) ?? null);
    for await (const event of eventsOf(watched)) handle(event);
  } finally {
    clearTimeout(alarm);
  }
}

/** Opens a stream for the topics `wanted`, and a new one whenever it ends, until `stopped`. */
async function follow(wanted: string, stopped: AbortSignal): Promise<void> {
  for (let round = 0; !stopped.aborted; round += 1) {
    if (round > 0) feedRound.value += 1;
    await stream(wanted, stopped).catch(() => {});
    if (stopped.aborted || session.peek() === null) return;
    if (feedState.peek() === 'off') return;
    const isFull = feedState.peek() === 'full';
    if (!isFull) feedState.value = 'away';
    await pause(isFull ? RETRY_FULL : RETRY, stopped);
    while (!stopped.aborted && !(await resume())) await pause(RETRY, stopped);
    if (session.peek() === null) return;
  }
}

/**
 * Keeps one stream open for all watched topics. It is closed while nobody is signed in, and while the page is hidden.
 */
export function startFeed(): void {
  document.addEventListener('visibilitychange', () => {
    shown.value = !document.hidden;
    if (!document.hidden) feedRound.value += 1;
  });
  effect(() => {
    const wanted = topics.value;
    const isOpen = session.value !== null && session.value !== undefined;
    if (!isOpen || wanted === '' || !shown.value) {
      feedState.value = isOpen && wanted !== '' ? 'hidden' : 'off';
      return undefined;
    }
    feedState.value = 'opening';
    const stop = new AbortController();
    void follow(wanted, stop.signal);
    return () => stop.abort();
  });
}
