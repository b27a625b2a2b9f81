import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Timers } from '../timers.ts';

const BEAT_MILLISECONDS = 100;
/** If a beat of the event loop is later than this, the process stood still. */
const STILL_MILLISECONDS = 500;
const SPANS_KEPT = 1000;
/** When the event loop was busy for this share of the time, everything waits for its turn in it. */
const FULL = 0.95;

/** The slowness of the simulator since the last look. */
export interface OwnLook {
  /** The longest delay of the event loop, in milliseconds. */
  readonly loopDelay: number;
  /** The share of one processor; may be above 1. */
  readonly processor: number;
}

/** Distinguishes the slowness of this process from that of the service. */
export interface OwnPace {
  /** The milliseconds of a span in which this process stood still, up to this moment. */
  stoodStill(from: number, to: number): number;
  /** The total milliseconds in which it stood still, and in which its event loop was full. */
  readonly standstill: number;
  readonly full: number;
  look(): OwnLook;
  stop(): void;
}

/** Measures the event loop of this process until it is stopped. */
export function startOwnPace(timers: Timers): OwnPace {
  const spans: { from: number; to: number }[] = [];
  const delay = monitorEventLoopDelay({ resolution: 10 });
  let last = timers.now();
  let ended = 0;
  let late = 0;
  let full = 0;
  let before = { at: last, loop: performance.eventLoopUtilization(), processor: process.cpuUsage() };
  delay.enable();
  let cancel = timers.after(BEAT_MILLISECONDS, beat);

  /** A standstill that no beat has reported yet: the time since the last beat is too long. */
  function open(): { from: number; to: number } | undefined {
    const now = timers.now();
    return now - last >= BEAT_MILLISECONDS + STILL_MILLISECONDS
      ? { from: last + BEAT_MILLISECONDS, to: now }
      : undefined;
  }

  function beat(): void {
    const span = open();
    if (span) {
      spans.push(span);
      ended += span.to - span.from;
      if (spans.length > SPANS_KEPT) spans.shift();
    }
    late = Math.max(late, timers.now() - last - BEAT_MILLISECONDS);
    last = timers.now();
    cancel = timers.after(BEAT_MILLISECONDS, beat);
  }

  const shared = (one: { from: number; to: number }, from: number, to: number): number =>
    Math.max(0, Math.min(one.to, to) - Math.max(one.from, from));

  return {
    stoodStill(from, to) {
      const now = open();
      return [...spans, ...(now ? [now] : [])].reduce((sum, span) => sum + shared(span, from, to), 0);
    },
    get standstill() {
      const now = open();
      return ended + (now ? now.to - now.from : 0);
    },
    get full() {
      return full;
    },
    look() {
      const now = timers.now();
      const loop = performance.eventLoopUtilization();
      const processor = process.cpuUsage();
      const elapsed = Math.max(1, now - before.at);
      const { user, system } = process.cpuUsage(before.processor);
      if (performance.eventLoopUtilization(loop, before.loop).utilization >= FULL) full += elapsed;
      // A process that was stopped counted no delay; only its clock shows it.
      const looked = { loopDelay: Math.max(late, delay.max / 1e6), processor: (user + system) / 1000 / elapsed };
      delay.reset();
      late = 0;
      before = { at: now, loop, processor };
      return looked;
    },
    stop() {
      cancel();
      delay.disable();
    },
  };
}
