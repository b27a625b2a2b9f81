import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Sweep } from '../../platform/database/sweep.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros } from '../../runtime/units.ts';
import { createPacing, type Pace } from './pacing.ts';
import { createPatience } from './patience.ts';
import { removeSome, STEP_MS } from './remove-some.ts';

// Milliseconds. The first sweep waits, so that devices that were connected before the start can connect again.
const FIRST_MS = 60_000;
const BETWEEN_MS = 600_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  trust: Pick<ClockTrust, 'isHeld' | 'note'>;
  sweeps: readonly Sweep[];
  /**
   * Removes objects of the object store that no row refers to. Returns their number, or undefined when it is too early
   * for another walk through the store. Rejects when the store does not answer.
   */
  sweepObjects(pace: Pace): Promise<number | undefined>;
  /** Whether this process removes expired data; with several nodes, only one of them does. */
  leads?(): boolean;
  /** The factor by which a pause is longer than the step before it. */
  pauseFactor?: number;
}

/**
 * Removes expired rows every ten minutes, one kind of rows after the other; kinds of which no row is old enough are passed
 * over (see patience.ts). They are found on a thread of their own, along the primary keys from the oldest on, and removed
 * in units of work of two milliseconds. After each unit a pause follows that is 19 times as long, so that other work is
 * hardly delayed. A sweep that is interrupted continues with the next one, since that begins at the oldest remaining row.
 */
export function createRetention(parts: Parts) {
  const { database, clock, log, metrics, trust, sweeps, sweepObjects, leads = () => true } = parts;
  const { pace, isStopped, stop } = createPacing(parts.pauseFactor);
  const patience = createPatience();
  let running: Promise<void> | undefined;
  let cancel = (): void => undefined;

  async function step(sweep: Sweep, found: readonly unknown[], before: number) {
    const done = await database.transact(
      (unit) => removeSome(database, unit, found, (_, one) => sweep.remove(unit, one, before)),
      { pace: 'soon' },
    );
    const removed = done.removed.reduce((sum, count) => sum + count, 0);
    metrics.retentionRemoved.inc({ kind: sweep.kind }, removed);
    return { ...done, removed };
  }

  function tellOldest(kind: Sweep['kind'], oldest: Micros | null): void {
    metrics.retentionOldest.set({ kind }, oldest === null ? 0 : Math.max(0, clock.now() - oldest) / 1_000_000);
  }

  async function sweepRows(sweep: Sweep): Promise<number> {
    const { kind, keptForMicros } = sweep;
    const resting = patience.resting(kind, clock.now());
    if (resting) {
      tellOldest(kind, resting.oldest);
      return 0;
    }
    const before = clock.now() - keptForMicros; // -Infinity when rows are kept for ever
    let removed = 0;
    for await (const { found, oldestAt } of sweep.find(database.aside, before)) {
      metrics.retentionBehind.set({ kind }, oldestAt === undefined ? 0 : Math.max(0, before - oldestAt) / 1_000_000);
      for (let at = 0; at < found.length; ) {
        const done = await step(sweep, found.slice(at), before);
        at += done.taken;
        removed += done.removed;
        if (!(await pace(done.worked))) return removed;
      }
      if (found.length === 0 && !(await pace(STEP_MS))) return removed; // the disk gets a pause after an empty page, too
    }
    metrics.retentionBehind.set({ kind }, 0);
    const oldest = await sweep.oldestAt(database.aside);
    tellOldest(kind, oldest);
    patience.swept(sweep, oldest, clock.now());
    return removed;
  }

  async function sweepAll(): Promise<void> {
    await trust.note().catch((err: unknown) => log.warn({ err }, 'the present time could not be stored'));
    // Another node may have other times, and a clock that was wrong has made rows of any time.
    if (!leads() || trust.isHeld()) return patience.forget();
    const started = clock.now();
    const removed: Record<string, number> = {};
    const kinds = [
      ...sweeps.map((sweep) => [sweep.kind, () => sweepRows(sweep)] as const),
      ['objects', () => sweepObjects(pace)] as const,
    ];
    for (const [kind, work] of kinds) {
      if (isStopped() || trust.isHeld()) return;
      try {
        const count = (await work()) ?? 0;
        if (count > 0) removed[kind] = count;
        if (kind === 'objects') metrics.retentionRemoved.inc({ kind }, count);
        metrics.retentionSwept.set({ kind }, clock.now() / 1_000_000);
      } catch (err) {
        if (!isStopped()) log.warn({ err, kind }, 'expired data could not be removed; the next sweep tries again');
      }
    }
    const line = { removed, seconds: Math.round((clock.now() - started) / 1_000_000) };
    if (Object.keys(removed).length > 0) log.info(line, 'expired data was removed');
    else log.debug(line, 'no expired data was found');
  }

  function begin(): void {
    running = sweepAll().finally(() => {
      running = undefined;
      if (!isStopped()) cancel = clock.after(BETWEEN_MS, begin);
    });
  }

  return {
    async start(): Promise<void> {
      for (const kind of [...sweeps.map((sweep) => sweep.kind), 'objects']) {
        metrics.retentionRemoved.inc({ kind }, 0); // so that a rate includes the first removed rows
        metrics.retentionSwept.set({ kind }, clock.now() / 1_000_000); // so that a first sweep that fails is missed
      }
      cancel = clock.after(FIRST_MS, begin);
    },

    /** Resolves when no sweep is running. */
    idle: async (): Promise<void> => running,

    async [Symbol.asyncDispose](): Promise<void> {
      cancel();
      stop();
      await running;
    },
  };
}
