import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Timers } from '../timers.ts';
import { isStarved, readKernel } from './kernel-pressure.ts';

const BEAT_MILLISECONDS = 100;
/** The process counts as having stood still when its timer of 100 ms is late by at least this. */
const STILL_MILLISECONDS = 500;
/** A timer that is late by less is in time. */
const LATE_MILLISECONDS = 20;
/** The delay of its own event loop at which the simulator believes the kernel that the machine has too few processors. */
const FELT_MILLISECONDS = 100;
const SPANS_KEPT = 1000;
/** The event loop counts as full when it was busy for this share of the time: everything in the process then waits. */
const FULL = 0.95;

/** How slow the simulator was since the previous call of `look`. */
export interface OwnLook {
  /** The longest delay of the event loop, in milliseconds. */
  readonly loopDelay: number;
  /** The processor time that it used, as a share of one processor; above 1 with several threads. */
  readonly processor: number;
}

/** Measures how slow the simulator itself is, so that the service is not blamed for it. */
export interface OwnPace {
  /** For how many milliseconds of a span this process stood still. A standstill that still lasts counts up to now. */
  stoodStill(from: number, to: number): number;
  /** For how many milliseconds of a span this process came too late to its work, standstills included. */
  heldUp(from: number, to: number): number;
  /** Totals in milliseconds: how long the process stood still, and how long its event loop was full. */
  readonly standstill: number;
  readonly full: number;
  /** Milliseconds in which the machine had too few processors, as its kernel says and as this process has felt. */
  readonly starved: number;
  look(): OwnLook;
  stop(): void;
}

/** Measures the event loop of this process until it is stopped. */
export function startOwnPace(timers: Timers): OwnPace {
  const spans: { from: number; to: number }[] = [];
  const delays: { from: number; to: number }[] = [];
  const delay = monitorEventLoopDelay({ resolution: 10 });
  let last = timers.now();
  let ended = 0;
  let late = 0;
  let full = 0;
  let starved = 0;
  let before = {
    at: last,
    loop: performance.eventLoopUtilization(),
    processor: process.cpuUsage(),
    kernel: readKernel(),
  };
  delay.enable();
  let cancel = timers.after(BEAT_MILLISECONDS, beat);

  /** The present standstill, if there is one: the timer of 100 ms is overdue. */
  function open(): { from: number; to: number } | undefined {
    const now = timers.now();
    return now - last >= BEAT_MILLISECONDS + STILL_MILLISECONDS
      ? { from: last + BEAT_MILLISECONDS, to: now }
      : undefined;
  }

  /** The time by which the present beat is overdue, if it is at least `least` milliseconds. */
  function overdue(least: number): { from: number; to: number }[] {
    const [due, now] = [last + BEAT_MILLISECONDS, timers.now()];
    return now - due >= least ? [{ from: due, to: now }] : [];
  }

  function beat(): void {
    const span = open();
    if (span) {
      spans.push(span);
      ended += span.to - span.from;
      if (spans.length > SPANS_KEPT) spans.shift();
    }
    late = Math.max(late, timers.now() - last - BEAT_MILLISECONDS);
    delays.push(...overdue(LATE_MILLISECONDS));
    if (delays.length > SPANS_KEPT) delays.shift();
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
    heldUp: (from, to) =>
      [...delays, ...overdue(LATE_MILLISECONDS)].reduce((sum, span) => sum + shared(span, from, to), 0),
    get standstill() {
      const now = open();
      return ended + (now ? now.to - now.from : 0);
    },
    get full() {
      return full;
    },
    get starved() {
      return starved;
    },
    look() {
      const now = timers.now();
      const loop = performance.eventLoopUtilization();
      const processor = process.cpuUsage();
      const elapsed = Math.max(1, now - before.at);
      const kernel = readKernel();
      const loopDelay = Math.max(late, delay.max / 1e6);
      // As long as this process comes to its work in time, the others do, too.
      if (loopDelay >= FELT_MILLISECONDS && isStarved(before.kernel, kernel, elapsed)) starved += elapsed;
      const { user, system } = process.cpuUsage(before.processor);
      if (performance.eventLoopUtilization(loop, before.loop).utilization >= FULL) full += elapsed;
      // The monitor of the event loop sees no delay while the process is stopped by a signal; only the clock shows that
      // (`late`).
      const looked = { loopDelay, processor: (user + system) / 1000 / elapsed };
      delay.reset();
      late = 0;
      before = { at: now, loop, processor, kernel };
      return looked;
    },
    stop() {
      cancel();
      delay.disable();
    },
  };
}
