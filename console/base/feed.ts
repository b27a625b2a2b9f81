import { effect, signal, untracked } from '@preact/signals';
import { wakes } from './clock.ts';
import type { StreamEvent } from './event-stream.ts';
import { covers } from './feed-batches.ts';
import type { StreamState } from './feed-streams.ts';
import { createWindows, type Windows } from './feed-windows.ts';
import { ROLE, ROOT } from './place.ts';
import { session } from './session.ts';

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

/** The state of the stream of changes. `off`: there is none. `hidden`: the page is not visible. */
export const feedState = signal<'off' | 'hidden' | Exclude<StreamState, 'refused'>>('off');
/**
 * Increases whenever values on the page may be outdated: after an interruption of the stream, and when the page becomes
 * visible again, the computer has slept, or somebody has signed in again.
 */
export const feedRound = signal(0);

const VERSION = document.documentElement.dataset['version'] ?? '';

const watchers = new Map<Watcher, string>();
const topics = signal<readonly string[]>([]);
const shown = signal(!document.hidden);

/** Milliseconds after the last change of the watched topics, until the stream follows them. */
const DEBOUNCE_MS = 60;

let settling: ReturnType<typeof setTimeout> | undefined;
function collect(): void {
  clearTimeout(settling);
  settling = setTimeout(() => {
    const next = [...new Set(watchers.values())].filter(Boolean).sort();
    if (next.join() !== topics.peek().join()) topics.value = next;
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

function told({ event, data }: StreamEvent): void {
  if (event === 'gap') {
    const { dropped = 0 } = JSON.parse(data) as { dropped?: number };
    for (const watcher of watchers.keys()) watcher.gap?.(dropped);
    return;
  }
  if (event !== 'snapshot' && event !== 'change') return;
  for (const change of JSON.parse(data) as Change[])
    for (const [watcher, topic] of watchers) if (covers(topic, change)) watcher.changed(change, event === 'snapshot');
}

const outdated = (): void => {
  feedRound.value = feedRound.peek() + 1;
};

/** The epoch in which the page was last up to date; undefined before that. */
let seen: string | undefined;
function changed(state: StreamState, epoch: string): void {
  feedState.value = state === 'refused' ? 'off' : state;
  if (state !== 'live' || epoch === seen) return;
  if (seen !== undefined) outdated();
  seen = epoch;
}

/** Follows the watched topics while somebody is signed in and the page is visible. */
export function startFeed(): void {
  let windows: Windows | undefined;
  let wasSignedIn = false;
  document.addEventListener('visibilitychange', () => {
    shown.value = !document.hidden;
    if (!document.hidden) outdated();
  });
  effect(() => {
    const { value: who } = session;
    if (!who) return undefined;
    if (wasSignedIn) outdated();
    wasSignedIn = true;
    seen = undefined;
    // Windows share a stream only if they have the same rights, and the code of the same release.
    const name = [
      'lapel feed',
      VERSION,
      ROOT,
      ROLE,
      who.applicationId ?? '',
      who.member?.memberId ?? '',
      ...who.scopes,
    ].join(' ');
    const own = createWindows({ name, told, changed });
    windows = own;
    const stop = effect(() => {
      const wanted = shown.value ? topics.value : [];
      feedState.value = topics.value.length === 0 ? 'off' : shown.value ? 'opening' : 'hidden';
      // Without topics nothing was missed: the next page reads what it shows.
      if (wanted.length === 0) seen = undefined;
      untracked(() => own.want(wanted));
    });
    return () => {
      stop();
      own.close();
      windows = undefined;
      feedState.value = 'off';
    };
  });
  effect(() => {
    if (wakes.value === 0) return;
    windows?.restart();
    outdated();
  });
}
