import { effect, signal } from '@preact/signals';
import { eventsOf, type StreamEvent } from './event-stream.ts';
import { credentials, operation } from './requests.ts';
import { ended, resume, session } from './session.ts';

/** A change that the service reports for a watched topic. */
export interface Change {
  topic: string;
  key: string;
  value: unknown;
}

export interface Watcher {
  /** `first` is true for an item of the snapshot, and false for a change. */
  changed(change: Change, first: boolean): void;
  /** The number of messages that were left out, because more came than can be read. */
  gap?(dropped: number): void;
}

/**
 * `live`: the page is up to date. `away`: the service cannot be reached, and a retry follows. `full`: the service has
 * no free stream, and a retry follows. `hidden`: the page is not visible.
 */
export const feedState = signal<'off' | 'opening' | 'live' | 'away' | 'full' | 'hidden'>('off');
/**
 * Increases with every new stream after the first, and when the page becomes visible again: values that were shown
 * before may be outdated.
 */
export const feedRound = signal(0);

const watchers = new Map<Watcher, string>();
const topics = signal('');
const shown = signal(!document.hidden);

/** Milliseconds in which several changes of the watched topics are combined into one new stream. */
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

/** Watches a topic. The returned function ends the watch. */
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

/** Reads one stream to its end. */
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

/** Opens one stream after another, until the topics are no longer wanted. */
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

/** Keeps one stream open for all watched topics. There is none without a session, and none while the page is hidden. */
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
