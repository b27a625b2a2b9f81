import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { Note } from '../customer/story.ts';
import type { Look } from '../promises/looks.ts';
import * as show from '../show.ts';
import type { Timers } from '../timers.ts';

const CALL_EVERY = 100;
/** A call that waits longer than this many milliseconds for its answer is a stall of the service. */
const STALL = 1000;
/** A call that waits longer than this many milliseconds is no quick answer: the service stands still, if only for a moment. */
const HALT = 150;
/** Milliseconds of such waiting that do not count: a service that has just begun loads and compiles its code. */
const ALLOWANCE = 1000;
/** The number of standstills whose times are kept. */
const SPANS_KEPT = 1000;
/** A call without an answer is given up after this many milliseconds; it was a stall. */
const PATIENCE = 30_000;
const WEIGH_EVERY = 2000;
/** The number of stalls that are kept, each with a sentence; later ones are only counted. */
const STALLS_KEPT = 5;
/** The number of looks at the memory whose lowest counts: garbage collections come in between. */
const LOOKS_KEPT = 8;
const OLD_OBJECTS = /^nodejs_heap_space_size_used_bytes\{space="old"\} (\d+)/m;
const OUTSIDE = /^nodejs_external_memory_bytes (\d+)/m;
const RESIDENT = /^process_resident_memory_bytes (\d+)/m;

/** Looks at a service from outside while a run lasts. */
export interface ServiceWatch {
  /**
   * `stalled`: how often the service answered no call for a second. `memory`: the bytes by which its memory has grown
   * since the first look; missing without access to administration. `halted`: the milliseconds of `watched` in which a call
   * waited for its answer for longer than an answer takes. `memoryKept`: the bytes of its objects that have outlived its
   * garbage collections, since that look.
   */
  counts(): {
    readonly stalled: number;
    readonly halted: number;
    readonly watched: number;
    readonly memory?: number;
    readonly memoryKept?: number;
  };
  /** The events that explain a figure. */
  notes(figure: 'stalled' | 'halted' | 'memory' | 'memoryPerConnection'): readonly Note[];
  /** For how many milliseconds of a span the service stood still, as far as it did so for a second. */
  stoodStill(from: number, to: number): number;
  /** Looks at the memory now; `anew`: the growth counts from this look on. */
  weigh(anew?: boolean): Promise<void>;
  /** True: the simulator makes the service fail now, so calls that wait are no stalls until it is back (false). */
  suspend(suspended: boolean): void;
  stop(): void;
}

interface WatchOptions {
  readonly api: string;
  readonly admin?: { readonly url: string; readonly token: string } | undefined;
  readonly timers: Timers;
  /** Milliseconds of a span in which the simulator itself stood still: the service is not blamed for them. */
  readonly stoodStill: (from: number, to: number) => number;
  /** Milliseconds of a span in which the simulator came too late to its work, standstills included. */
  readonly heldUp?: (from: number, to: number) => number;
  /** Called when a check of the service has looked. */
  readonly look?: Look | undefined;
}

const numberIn = (text: string, form: RegExp): number => Number(form.exec(text)?.[1] ?? 0);

/**
 * Calls a URL, and resolves when its answer has ended. It uses no `fetch`, which takes three times as much processor
 * time, because a run makes ten such calls a second.
 */
function answerFrom(url: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = (answer: IncomingMessage): void => {
      answer.on('end', resolve).on('error', reject).resume();
    };
    (url.startsWith('https:') ? httpsGet : httpGet)(url, { signal }, take).on('error', reject);
  });
}

/**
 * Makes a cheap call every 100 ms, one at a time, and reads the metrics of the service every two seconds, until it is
 * stopped. A refused connection is no stall: the calls of the run count it among their errors.
 */
export function watchService({
  api,
  admin,
  timers,
  stoodStill,
  heldUp = stoodStill,
  look = () => {},
}: WatchOptions): ServiceWatch {
  const stopped = new AbortController();
  let stalled = 0;
  let isAway = false;
  /** How often the service was made to fail: a call that began before a fault says nothing about the service. */
  let faults = 0;
  const stalls: Note[] = [];
  let halted = 0;
  let watched = 0;
  const halts: Note[] = [];
  const spans: { readonly from: number; readonly to: number }[] = [];
  /** The beginning of the call that waits for its answer. */
  let waitsSince: number | undefined;
  let first: { readonly bytes: number; readonly at: number } | undefined;
  let last: typeof first;
  /** The bytes of old objects, and of those outside of the heap, in the last looks. Their lowest is free of garbage. */
  let kept: number[] = [];
  let keptAtFirst: number | undefined;
  let cancelCall = (): void => {};
  let cancelWeigh = (): void => {};

  async function call(): Promise<void> {
    const began = timers.now();
    waitsSince = began;
    const before = faults;
    const patience = AbortSignal.any([stopped.signal, AbortSignal.timeout(PATIENCE)]);
    const hasWaited = await answerFrom(`${api}/.well-known/jwks.json`, patience).then(
      () => true,
      () => patience.aborted && !stopped.signal.aborted,
    );
    const ended = timers.now();
    const isJudged = hasWaited && !isAway && before === faults;
    const waited = ended - began - stoodStill(began, ended);
    waitsSince = undefined;
    if (hasWaited && waited > STALL) {
      spans.push({ from: began, to: ended });
      if (spans.length > SPANS_KEPT) spans.shift();
    }
    if (isJudged) {
      look('service-answers');
      look('service-halts');
      const halt = ended - began - heldUp(began, ended);
      watched += Math.max(CALL_EVERY, waited);
      if (halt > HALT) {
        halted += halt;
        if (halts.length < STALLS_KEPT)
          halts.push({ at: ended, text: `the service answered no call for ${Math.round(halt)} ms` });
      }
    }
    if (isJudged && waited > STALL) {
      stalled += 1;
      const text = `the service answered no call for ${(waited / 1000).toFixed(1)} s`;
      if (stalls.length < STALLS_KEPT) stalls.push({ at: ended, text });
    }
    if (!stopped.signal.aborted) cancelCall = timers.after(Math.max(0, began + CALL_EVERY - ended), () => void call());
  }

  async function weigh(anew = false): Promise<void> {
    if (!admin) return;
    const headers = { authorization: `Bearer ${admin.token}` };
    const text = await fetch(`${admin.url}/metrics`, { headers, signal: AbortSignal.timeout(PATIENCE) })
      .then((answer) => answer.text())
      .catch(() => '');
    const [, bytes] = RESIDENT.exec(text) ?? [];
    if (bytes === undefined) return;
    look('service-memory');
    const old = numberIn(text, OLD_OBJECTS) + numberIn(text, OUTSIDE);
    if (anew) kept = [];
    kept.push(old);
    if (kept.length > LOOKS_KEPT) kept.shift();
    if (anew || keptAtFirst === undefined) keptAtFirst = old;
    last = { bytes: Number(bytes), at: timers.now() };
    if (anew || first === undefined) first = last;
  }

  async function weighAgain(): Promise<void> {
    await weigh();
    if (!stopped.signal.aborted) cancelWeigh = timers.after(WEIGH_EVERY, () => void weighAgain());
  }

  void call();
  void weighAgain();
  return {
    counts: () => ({
      stalled,
      halted: Math.max(0, halted - ALLOWANCE),
      watched,
      ...(first && last && { memory: last.bytes - first.bytes }),
      ...(keptAtFirst !== undefined && { memoryKept: Math.max(0, Math.min(...kept) - keptAtFirst) }),
    }),
    notes(figure) {
      if (figure === 'stalled') return stalls;
      if (figure === 'halted') return halts;
      if (!first || !last) return [];
      if (figure === 'memoryPerConnection') {
        const text = `the service keeps ${show.bytes(Math.min(...kept) - (keptAtFirst ?? 0))} more in its objects`;
        return [{ at: last.at, text }];
      }
      return [
        { at: first.at, text: `the service uses ${show.bytes(first.bytes)} of memory` },
        { at: last.at, text: `the memory of the service has grown to ${show.bytes(last.bytes)}` },
      ];
    },
    stoodStill(from, to) {
      const now =
        waitsSince !== undefined && timers.now() - waitsSince > STALL ? [{ from: waitsSince, to: timers.now() }] : [];
      return [...spans, ...now].reduce(
        (sum, span) => sum + Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)),
        0,
      );
    },
    weigh,
    suspend(suspended) {
      isAway = suspended;
      faults += 1;
    },
    stop() {
      stopped.abort();
      cancelCall();
      cancelWeigh();
    },
  };
}
