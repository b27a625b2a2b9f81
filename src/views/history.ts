import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../metrics.ts';
import { createCountedBatches } from '../platform/database/counted-batches.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import type { Remembered } from '../runtime/remembered.ts';
import { type Micros, SECOND } from '../runtime/units.ts';
import { countActivated, countDevices, countDueUpTo, countFailing, countPendingUpTo } from './figures-repository.ts';
import {
  insertSample,
  listPoints,
  type Own,
  type Point,
  type Sample,
  type Shared,
  thin,
} from './history-repository.ts';
import { watchLoopDelay } from './loop-delay.ts';

const STEP = 10 * SECOND;
/** Rows of `from` seconds that are older than `after` (microseconds) are combined into rows of `to` seconds. */
const THINNED = [
  { from: 10, to: 60, after: 2 * 3600 * SECOND },
  { from: 60, to: 600, after: 48 * 3600 * SECOND },
] as const;
const THIN_EVERY = 600 * SECOND;
/**
 * The most rows that are counted on the connection that requests also use. More rows are counted on a thread of their
 * own.
 */
const COUNTED_ON_SHARED = 10_000;
/** The microseconds that a list reaches back at most. Older rows are deleted (see history-sweep.ts). */
const OLDEST = 31 * 24 * 3600 * SECOND;
const MOST_POINTS = 1_500;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'transactionsCreated' | 'transactionsFinished' | 'deliveryAttempts'>;
  remembered: Remembered;
  /** The name of this node; empty without a cluster. */
  nodeId(): string;
  /** True when this node is the one that records the figures of the whole service. */
  leads(): boolean;
  /** The number of devices that are connected to this node. */
  connectedHere(): number;
  /** False when no figures are to be recorded. */
  isOn: boolean;
}

type Counters = Pick<Own, 'created' | 'finished' | 'failed' | 'attemptsFailed'>;

/**
 * A point in time (microseconds) with the figures of all nodes together. A figure of the whole service that was not
 * recorded at this point has its previous value.
 */
export interface FleetPoint extends Own, Shared {
  at: number;
}

export type FleetHistory = ReturnType<typeof createFleetHistory>;

/**
 * Records figures over time. Each node records its own every ten seconds; one node also records those of the whole
 * service. Rows older than two hours are combined into rows of a minute, and rows older than two days into rows of ten
 * minutes.
 */
export function createFleetHistory(parts: Parts) {
  const { database, clock, ids, log, metrics, remembered, nodeId, leads, connectedHere, isOn } = parts;
  const delay = watchLoopDelay();
  const batches = createCountedBatches<Sample>({ database, clock, ids, add: insertSample });
  let loopDelay: number | null = null;
  let before: Counters | undefined;
  let thinnedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let cancel = (): void => undefined;
  let stopped = false;

  async function counters(): Promise<Counters> {
    const [created, finished, attempts] = await Promise.all([
      metrics.transactionsCreated.get(),
      metrics.transactionsFinished.get(),
      metrics.deliveryAttempts.get(),
    ]);
    const sum = (values: { value: number }[]): number => values.reduce((all, { value }) => all + value, 0);
    return {
      created: sum(created.values),
      finished: sum(finished.values),
      failed: sum(finished.values.filter(({ labels }) => labels.status === 'failed')),
      attemptsFailed: sum(attempts.values.filter(({ labels }) => labels.outcome !== 'delivered')),
    };
  }

  async function shared(now: Micros): Promise<Shared> {
    const all = Number.MAX_SAFE_INTEGER - 1;
    const { read, aside } = database;
    const [devices, activated, failing, someDue, somePending] = await Promise.all([
      countDevices(read),
      countActivated(read),
      countFailing(read),
      countDueUpTo(read, COUNTED_ON_SHARED),
      countPendingUpTo(read, COUNTED_ON_SHARED),
    ]);
    const due = someDue ?? (await countDueUpTo(aside, all));
    const pending = somePending ?? (await countPendingUpTo(aside, all));
    const oldestDue = due?.oldestAt ? Math.max(0, now - due.oldestAt) : 0;
    return { devices, activated, failing, due: due?.count ?? 0, oldestDue, pending: pending?.count ?? 0 };
  }

  async function sample(): Promise<void> {
    const now = clock.now();
    loopDelay = delay.take();
    await batches.again();
    const after = await counters();
    const { created, finished, failed, attemptsFailed } = before ?? after;
    const own: Own = {
      connected: connectedHere(),
      created: after.created - created,
      finished: after.finished - finished,
      failed: after.failed - failed,
      attemptsFailed: after.attemptsFailed - attemptsFailed,
      loopDelay,
    };
    const at = (Math.round(now / STEP) - 1) * STEP; // rounded, because a timer may fire slightly early
    const row = { at, nodeId: nodeId(), ...own, shared: leads() ? await shared(now) : null };
    before = after; // from here on the batch has these events, until it is stored
    await batches.store(row);
    if (leads() && now - thinnedAt >= THIN_EVERY) {
      await database.transact(
        async (unit) => {
          for (const { from, to, after: age } of THINNED) {
            const until = now - age;
            await thin(unit, from, to, until - (until % (to * SECOND)));
          }
        },
        { pace: 'soon' },
      );
      thinnedAt = now;
    }
  }

  function arm(): void {
    const now = clock.now();
    cancel = clock.after(((Math.round(now / STEP) + 1) * STEP - now) / 1000, () => {
      running = sample()
        .catch((err: unknown) => {
          if (!isDatabaseAway(err)) log.warn({ err }, 'figures of the fleet could not be stored');
        })
        .finally(() => {
          running = undefined;
          if (!stopped) arm();
        });
    });
  }

  /**
   * The seconds between two points of a list: at least `asked`, a multiple of the seconds of the stored rows, and so
   * many that the list has at most MOST_POINTS points.
   */
  function stepFor(since: Micros, now: Micros, asked: number): number {
    const age = now - since;
    const finest = THINNED.findLast(({ after }) => age > after)?.to ?? 10;
    const least = Math.max(asked, age / SECOND / MOST_POINTS);
    return Math.ceil(least / finest) * finest;
  }

  async function look(since: Micros, stepSeconds: number): Promise<FleetPoint[]> {
    const found = await listPoints(database.aside, since, stepSeconds * SECOND);
    let last: Shared = { devices: 0, activated: 0, due: 0, oldestDue: 0, pending: 0, failing: 0 };
    return found.map((point: Point) => {
      const counted = Object.entries(last).map(([name, was]) => [name, point[name as keyof Shared] ?? was]);
      last = Object.fromEntries(counted) as Shared;
      return { ...point, ...last };
    });
  }

  return {
    /** The delay of the event loop in the last ten seconds, in microseconds, at the 99th percentile. */
    loopDelay: (): number | null => loopDelay,

    /** Lists the points since a time (microseconds), with at least `seconds` between two points. */
    async list(since: Micros, seconds: number): Promise<{ stepSeconds: number; points: FleetPoint[] }> {
      const now = clock.now();
      const from = Math.max(since, now - OLDEST);
      const stepSeconds = stepFor(from, now, seconds);
      const start = from - (from % (stepSeconds * SECOND));
      return {
        stepSeconds,
        points: await remembered(`history ${start} ${stepSeconds}`, () => look(start, stepSeconds)),
      };
    },

    async start(): Promise<void> {
      if (!isOn) return;
      before = await counters();
      arm();
    },

    idle: async (): Promise<void> => running,

    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel();
      await running;
      delay.stop();
    },
  };
}
