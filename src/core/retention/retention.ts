import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Sweep } from '../../platform/database/sweep.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

// Milliseconds. The first sweep waits until those have connected who were connected before the start.
const FIRST = 60_000;
const BETWEEN = 600_000;
// Rows that are removed by one statement where a statement goes over the network.
const AT_ONCE = 100;
// Milliseconds of the event loop in one unit of work, and how much longer everybody else has it then. It is about the
// loop's time, not the domain's, so it is no business of the injected clock.
const STEP = 2;
const PAUSE_FACTOR = 19;
const SHORTEST_PAUSE = 5;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  sweeps: readonly Sweep[];
  /** Removes what rows do not know of: objects. Answers how many; undefined when it is not time. Rejects when the store is away. */
  sweepObjects(pace: Pace): Promise<number | undefined>;
  /** Whether it is this process that sweeps; of several one does. */
  leads?(): boolean;
  /** How many times as long as a step took it rests. */
  pauseFactor?: number;
}

/** How long what is done at leisure rests after a piece of work, so that nobody feels it. Resolves to false when it is to end. */
export type Pace = (workedMs: number) => Promise<boolean>;

/**
 * Removes what has served its time: every ten minutes, kind by kind. What may go is looked for on a thread of its own,
 * along the primary keys from the oldest on, and is removed in units of work of two milliseconds, which share the commits
 * of others and are so far apart that they take a twentieth of the time. One that is broken off goes on where the next one begins: at
 * the oldest that is left.
 */
export function createRetention(parts: Parts) {
  const { database, clock, log, metrics, sweeps, sweepObjects, leads = () => true, pauseFactor = PAUSE_FACTOR } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | undefined;
  let cancel = (): void => undefined;

  const pace: Pace = async (workedMs) => {
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(pauseFactor && SHORTEST_PAUSE, workedMs * pauseFactor)).unref();
    const giveUp = (): void => resolve();
    signal.addEventListener('abort', giveUp);
    await promise;
    signal.removeEventListener('abort', giveUp); // else each pause of all the years would be kept
    clearTimeout(timer);
    return !signal.aborted;
  };

  /** One unit of work: removes from the first on until its time is over; answers how many it took up and how many went. */
  async function step(sweep: Sweep, found: readonly unknown[], before: number) {
    let worked = 0;
    const done = await database.transactSoon(async (unit) => {
      const started = performance.now();
      let taken = 0;
      let removed = 0;
      while (taken < found.length && performance.now() - started < STEP) {
        const some = found.slice(taken, taken + (database.shared ? AT_ONCE : 1));
        for (const count of await Promise.all(some.map((one) => sweep.remove(unit, one, before)))) removed += count;
        taken += some.length;
      }
      worked = performance.now() - started;
      return { taken, removed };
    });
    metrics.retentionRemoved.inc({ kind: sweep.kind }, done.removed);
    return { ...done, worked };
  }

  async function sweepRows(sweep: Sweep): Promise<number> {
    const { kind, keptForMicros } = sweep;
    const before = clock.now() - keptForMicros; // -Infinity: for ever
    let removed = 0;
    for await (const { found, oldestAt } of sweep.find(database.aside, before)) {
      metrics.retentionBehind.set({ kind }, oldestAt === undefined ? 0 : Math.max(0, before - oldestAt) / 1_000_000);
      for (let at = 0; at < found.length; ) {
        const done = await step(sweep, found.slice(at), before);
        at += done.taken;
        removed += done.removed;
        if (!(await pace(done.worked))) return removed;
      }
      if (found.length === 0 && !(await pace(STEP))) return removed; // the disk rests between two looks, too
    }
    metrics.retentionBehind.set({ kind }, 0);
    const oldest = await sweep.oldestAt(database.aside);
    metrics.retentionOldest.set({ kind }, oldest === null ? 0 : Math.max(0, clock.now() - oldest) / 1_000_000);
    return removed;
  }

  async function sweepAll(): Promise<void> {
    if (!leads()) return;
    const started = clock.now();
    const removed: Record<string, number> = {};
    const kinds = [
      ...sweeps.map((sweep) => [sweep.kind, () => sweepRows(sweep)] as const),
      ['objects', () => sweepObjects(pace)] as const,
    ];
    for (const [kind, work] of kinds) {
      if (signal.aborted) return;
      try {
        const count = await work();
        if (count === undefined) continue;
        if (count > 0) removed[kind] = count;
        if (kind === 'objects') metrics.retentionRemoved.inc({ kind }, count);
        metrics.retentionSwept.set({ kind }, clock.now() / 1_000_000);
      } catch (err) {
        if (!signal.aborted)
          log.warn({ err, kind }, 'what has served its time could not be removed; the next sweep goes on');
      }
    }
    const line = { removed, seconds: Math.round((clock.now() - started) / 1_000_000) };
    if (Object.keys(removed).length > 0) log.info(line, 'what has served its time was removed');
    else log.debug(line, 'nothing has served its time');
  }

  function begin(): void {
    running = sweepAll().finally(() => {
      running = undefined;
      if (!signal.aborted) cancel = clock.after(BETWEEN, begin);
    });
  }

  return {
    async start(): Promise<void> {
      // From the start on, so that a rate can be taken of the first ones too.
      for (const kind of [...sweeps.map((sweep) => sweep.kind), 'objects']) metrics.retentionRemoved.inc({ kind }, 0);
      cancel = clock.after(FIRST, begin);
    },

    /** Resolves when no sweep is under way. */
    idle: async (): Promise<void> => running,

    async [Symbol.asyncDispose](): Promise<void> {
      cancel();
      stopping.abort();
      await running;
    },
  };
}
