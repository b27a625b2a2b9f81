import type { Metrics } from '../../metrics.ts';
import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros, Millis } from '../../runtime/units.ts';
import { lookAtRules, type OwnFigures, type Sign, signsOf, type Totals, totalsOf } from './signs.ts';

const MINUTE = 60_000_000;
/** Milliseconds between two looks, and the totals that are kept: a little more than those of an hour. */
const EVERY_MS = 60_000;
const KEPT = 62;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  own(): Promise<OwnFigures>;
  /** False when nothing is looked at by itself. */
  isOn: boolean;
}

export type SignWatch = ReturnType<typeof createSignWatch>;

/** Looks at the figures of this node every minute, and knows the conditions that they show. */
export function createSignWatch({ clock, log, metrics, own, isOn }: Parts) {
  /** The totals of the last hour, the oldest first. Before the start of the process there are none. */
  const kept: { at: Micros; totals: Partial<Totals> }[] = [{ at: clock.now(), totals: {} }];
  /** Since when each rule has held. */
  let since: (Micros | undefined)[] = [];
  let signs: Sign[] = [];
  const background = createBackgroundWork({
    clock,
    log,
    run: tick,
    retryMs: EVERY_MS,
    failed: 'the figures of this node could not be looked at',
  });

  /** Looks at all rules, and returns the totals. Since when a rule has held is noted at the looks of each minute only. */
  async function look(isTick: boolean): Promise<Totals> {
    const [totals, figures] = await Promise.all([totalsOf(metrics), own()]);
    const now = clock.now();
    const rise = (name: keyof Totals, minutes: number): number => {
      // A clock that was put back makes no time of its own: the oldest totals serve.
      const before = kept.findLast(({ at }) => now - at >= minutes * MINUTE) ?? kept[0];
      return totals[name] - (before?.totals[name] ?? 0);
    };
    const texts = await lookAtRules({ ...figures, metrics, seconds: now / 1_000_000, rise });
    if (isTick) since = texts.map((text, place) => (text === undefined ? undefined : (since[place] ?? now)));
    signs = signsOf(texts, since, now);
    return totals;
  }

  async function tick(): Promise<Millis> {
    kept.push({ totals: await look(true), at: clock.now() });
    if (kept.length > KEPT) kept.shift();
    return EVERY_MS;
  }

  return {
    /** The conditions of this node, as the latest look has found them. */
    known: (): readonly Sign[] => signs,

    /** Looks now, for somebody who asks. */
    async found(): Promise<readonly Sign[]> {
      await look(false);
      return signs;
    },

    start(): void {
      if (isOn) background.start();
    },

    idle: background.idle,
    [Symbol.asyncDispose]: background.stop,
  };
}
