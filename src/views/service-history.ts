import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import { createCountedBatches } from '../platform/database/counted-batches.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import type { Remembered } from '../runtime/remembered.ts';
import { type Micros, SECOND } from '../runtime/units.ts';
import type { NodeState } from './node-state.ts';
import {
  countedSoFar,
  type Measured,
  nothingYet,
  type ServiceFigures,
  since as sinceThen,
  sumOf,
} from './service-figures.ts';
import {
  AT_ONCE,
  findFigures,
  listFigures,
  type ServiceRow,
  type ServiceRowKey,
  saveFigures,
} from './service-history-repository.ts';

/** The microseconds of a row. */
const ROW = 300 * SECOND;
/** Milliseconds between two writes of the current row. A crash loses the figures of this time at most. */
const EVERY_MS = 60_000;
/** The microseconds that a list reaches back at most. */
const OLDEST = 7 * 86_400 * SECOND;
const MOST_POINTS = 300;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Measured;
  remembered: Remembered;
  /** The name of this node; empty without a cluster. */
  nodeId(): string;
  /** Looks up the state of this node. */
  state(): Promise<NodeState>;
  /** False when nothing is to be recorded. */
  isOn: boolean;
}

/** The figures of all nodes in a period that begins at `at`, in microseconds. */
export interface ServicePoint {
  at: Micros;
  figures: ServiceFigures;
}

export type ServiceHistory = ReturnType<typeof createServiceHistory>;

/**
 * Records how the service works: the durations of the steps of commands, and the answers of the API by route. Each node
 * adds its own to a row for each five minutes, every minute and when it stops, so that a restart loses nothing.
 */
export function createServiceHistory(parts: Parts) {
  const { database, clock, ids, log, metrics, remembered, nodeId, state, isOn } = parts;
  const batches = createCountedBatches<ServiceRow>({
    database,
    clock,
    ids,
    async add(unit, news) {
      await saveFigures(unit, { ...news, figures: sumOf(await findFigures(unit, news), news.figures) });
    },
  });
  let before = nothingYet();
  let running: Promise<void> | undefined;
  let cancel = (): void => undefined;
  let stopped = false;

  async function record(): Promise<void> {
    await batches.again();
    const now = clock.now();
    const [counted, own] = await Promise.all([countedSoFar(metrics), state()]);
    const news = sinceThen(counted, before);
    const key = { at: now - (now % ROW), nodeId: nodeId() };
    const disk = { diskFree: own.disk?.free ?? null, diskSize: own.disk?.size ?? null };
    before = counted; // from here on the batch has these figures, until it is stored
    await batches.store({ ...key, ...disk, figures: news, state: own });
  }

  const tryRecord = (): Promise<void> =>
    record().catch((err: unknown) => {
      if (!isDatabaseAway(err)) log.warn({ err }, 'figures of the service could not be stored');
    });

  function arm(): void {
    cancel = clock.after(EVERY_MS, () => {
      running = tryRecord().finally(() => {
        running = undefined;
        if (!stopped) arm();
      });
    });
  }

  /** The seconds between two points: at least `asked`, whole rows, and at most MOST_POINTS points. */
  const stepFor = (from: Micros, now: Micros, asked: number): number =>
    Math.ceil(Math.max(asked * SECOND, (now - from) / MOST_POINTS) / ROW) * (ROW / SECOND);

  async function look(from: Micros, now: Micros, stepSeconds: number): Promise<ServicePoint[]> {
    const points = new Map<Micros, ServiceFigures>();
    const add = (at: Micros, figures: ServiceFigures): void => {
      const start = at - (at % (stepSeconds * SECOND));
      points.set(start, sumOf(points.get(start) ?? nothingYet(), figures));
    };
    for (let last: ServiceRowKey | undefined = { at: from - 1, nodeId: '' }; last; ) {
      const rows: Awaited<ReturnType<typeof listFigures>> = await listFigures(database.aside, last);
      for (const { at, figures } of rows) add(at, figures);
      last = rows.length < AT_ONCE ? undefined : rows.at(-1);
    }
    add(now, sinceThen(await countedSoFar(metrics), before)); // what this node has not written yet
    return [...points].map(([at, figures]) => ({ at, figures })).sort((a, b) => a.at - b.at);
  }

  return {
    /** Lists the points since a time (microseconds), by default of the last day, with at least `seconds` between two. */
    async list(since: Micros | undefined, seconds: number) {
      const now = clock.now();
      const asked = Math.max(since ?? now - 86_400 * SECOND, now - OLDEST);
      const stepSeconds = stepFor(Math.min(asked, now), now, seconds);
      const from = Math.min(asked, now) - (Math.min(asked, now) % (stepSeconds * SECOND));
      const points = await remembered(`service ${from} ${stepSeconds}`, () => look(from, now, stepSeconds));
      return { since: from, stepSeconds, points };
    },

    async start(): Promise<void> {
      if (!isOn) return;
      before = await countedSoFar(metrics);
      arm();
    },

    idle: async (): Promise<void> => running,

    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel();
      await running;
      if (isOn) await tryRecord();
    },
  };
}
