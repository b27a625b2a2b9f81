import type { StreamEvent } from './event-stream.ts';
import { createStreams, type StreamState, type Streams } from './feed-streams.ts';

/**
 * A browser opens at most six connections to a service, so six windows with a stream each would leave none for requests.
 * Therefore one window of a browser, the leader, has the stream, and hands on what comes. A lock of the browser elects
 * the leader: it is free again when the window is hidden, closed or crashes, and the next window gets it. When the leader
 * says nothing for some time, because it is frozen, another window takes the lock from it.
 */

type Word =
  /** A window wants these topics from the leader; none when it leaves. */
  | { kind: 'want'; id: string; topics: readonly string[] }
  /** The leader is there. `epoch` is another one after each interruption. */
  | { kind: 'lead'; id: string; state: StreamState; epoch: string; topics: readonly string[] }
  | { kind: 'event'; event: StreamEvent };

export interface Parts {
  /** The name of the windows that may share a stream: they have the same rights. */
  name: string;
  told(event: StreamEvent): void;
  /** Called when the state changes. Between two epochs, changes were missed. */
  changed(state: StreamState, epoch: string): void;
}

export interface Windows {
  /** Follows these topics from now on; without topics, none. */
  want(topics: readonly string[]): void;
  /** Opens the streams again, because they may be dead. */
  restart(): void;
  close(): void;
}

/** Milliseconds between two signs of life of the leader. */
const BEAT_MS = 3_000;
/** Milliseconds without a sign of life after which the leader is frozen, or a window is gone. */
const SILENCE_MS = 3 * BEAT_MS;
/** Milliseconds in which windows tell a new leader their topics. */
const SETTLE_MS = 40;

const newId = (): string => crypto.getRandomValues(new Uint32Array(2)).join('-');

/** For a browser without locks: each window has a stream of its own. Pages that are not served with TLS have no locks. */
function alone({ told, changed }: Parts): Windows {
  const streams = createStreams({ told, changed: (state, breaks) => changed(state, String(breaks)) });
  return { want: streams.want, restart: streams.restart, close: streams.close };
}

/** The leader's part: its streams have the topics of all windows. */
function createLead(id: string, say: (word: Word) => void, hear: (word: Word) => void) {
  const wants = new Map<string, { topics: readonly string[]; at: number }>();
  const term = newId();
  let state: StreamState = 'opening';
  let breaks = 0;
  let topics: readonly string[] = [];
  let settling: ReturnType<typeof setTimeout> | undefined;
  const tell = (word: Word): void => {
    say(word);
    hear(word);
  };
  const beat = (): void => tell({ kind: 'lead', id, state, epoch: `${term} ${breaks}`, topics });
  const streams: Streams = createStreams({
    told: (event) => tell({ kind: 'event', event }),
    changed(next, count) {
      [state, breaks] = [next, count];
      beat();
    },
  });
  function settle(): void {
    for (const [name, { at }] of wants) if (name !== id && performance.now() - at > SILENCE_MS) wants.delete(name);
    const next = [...new Set([...wants.values()].flatMap((one) => one.topics))].sort();
    if (next.join() === topics.join()) beat();
    else {
      topics = next;
      streams.want(topics);
    }
  }
  const timer = setInterval(settle, BEAT_MS);
  return {
    wants(name: string, wanted: readonly string[]): void {
      const before = wants.get(name)?.topics.join();
      if (wanted.length === 0) wants.delete(name);
      else wants.set(name, { topics: wanted, at: performance.now() });
      if (before === wanted.join()) return;
      clearTimeout(settling);
      settling = setTimeout(settle, SETTLE_MS);
    },
    restart: streams.restart,
    stop(): void {
      clearInterval(timer);
      clearTimeout(settling);
      streams.close();
    },
  };
}

/** Shares the streams of this browser's windows; see above. */
export function createWindows(parts: Parts): Windows {
  if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') return alone(parts);
  const { name, told, changed } = parts;
  const id = newId();
  const channel = new BroadcastChannel(name);
  let topics: readonly string[] = [];
  /** The work of this window as the leader; undefined while it is not. */
  let lead: ReturnType<typeof createLead> | undefined;
  /** Ends the wish to lead; undefined while there is none. */
  let candidacy: AbortController | undefined;
  let alarm: ReturnType<typeof setTimeout> | undefined;

  const say = (word: Word): void => channel.postMessage(word);
  const isCovered = (covered: readonly string[]): boolean => topics.every((topic) => covered.includes(topic));
  function hear(word: Word): void {
    if (topics.length === 0) return;
    if (word.kind === 'event') told(word.event);
    else if (word.kind === 'lead') changed(isCovered(word.topics) ? word.state : 'opening', word.epoch);
  }
  /** Waits for the next sign of life of the leader. */
  function listen(): void {
    clearTimeout(alarm);
    if (topics.length > 0 && !lead)
      alarm = setTimeout(() => stand({ steal: true }), SILENCE_MS + Math.random() * BEAT_MS);
  }
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.kind === 'want') return lead?.wants(data.id, data.topics);
    if (lead || topics.length === 0) return;
    listen();
    if (data.kind === 'lead') say({ kind: 'want', id, topics });
    hear(data);
  };

  /** Waits for the lock, and leads while this window has it. `steal`: takes it from a leader that is frozen. */
  function stand({ steal = false } = {}): void {
    candidacy?.abort();
    const mine = new AbortController();
    candidacy = mine;
    const rule = (): Promise<void> => {
      if (mine.signal.aborted) return Promise.resolve();
      lead = createLead(id, say, hear);
      clearTimeout(alarm);
      lead.wants(id, topics);
      say({ kind: 'lead', id, state: 'opening', epoch: '', topics: [] });
      return new Promise((resolve) => mine.signal.addEventListener('abort', () => resolve()));
    };
    const stepDown = (): void => {
      if (candidacy !== mine) return;
      lead?.stop();
      lead = undefined;
    };
    navigator.locks
      .request(name, steal ? { steal } : { signal: mine.signal }, rule)
      .then(stepDown)
      .catch(() => {
        // Another window took the lock from this one, which was frozen.
        if (candidacy !== mine || mine.signal.aborted) return;
        stepDown();
        stand();
      });
    listen();
  }

  function leave(): void {
    candidacy?.abort();
    candidacy = undefined;
    lead?.stop();
    lead = undefined;
    clearTimeout(alarm);
    say({ kind: 'want', id, topics: [] });
  }
  // A window that is closed says so; one that crashes is forgotten after a while.
  const gone = (): void => leave();
  addEventListener('pagehide', gone);

  return {
    want(wanted) {
      topics = wanted;
      if (topics.length === 0) return leave();
      if (lead) return lead.wants(id, topics);
      say({ kind: 'want', id, topics });
      if (candidacy) listen();
      else stand();
    },
    restart: () => lead?.restart(),
    close() {
      removeEventListener('pagehide', gone);
      topics = [];
      leave();
      channel.close();
    },
  };
}
