import { setTimeout as sleep } from 'node:timers/promises';
import { type Measurement, runClosedLoop, warmUp } from '../closed-loop.ts';
import { type LapelTarget, startLapel } from '../lapel-target.ts';
import { measureLoop, medianOf, type Options, type Sample } from '../measure.ts';
import type { Row, Table } from '../report.ts';
import { createNeighbour } from './neighbour.ts';
import { FLEET, type Work, worksOf } from './works.ts';

/** The callers that are measured beside the works. */
const CALLERS = 64;
/** A work that takes longer is measured for so long only. */
const LONGEST_SECONDS = 3;
/** The service looks for old rows for the first time a minute after its start. */
const FIRST_SWEEP_MS = 62_000;
const OLD_ROWS = 200_000;
const RETENTION = 'retention';
/** Seconds of load after which a node has noticed another delay. */
const NOTICED_SECONDS = 2.2;
/** Milliseconds in which a work's last commits and webhooks end. */
const REST_MS = 500;

const rounded = (value: number): number => Number(value.toFixed(value < 100 ? 1 : 0));

async function goTo(target: LapelTarget, way: number): Promise<void> {
  await target.way?.setDelay(way);
  await runClosedLoop(target, CALLERS, NOTICED_SECONDS);
}

interface Flown extends Sample {
  /** Round trips to the database for each loop. */
  flights: number;
}

async function measureFar(target: LapelTarget, callers: number, seconds: number): Promise<Flown> {
  const before = await target.way?.traffic();
  const sample = await measureLoop(target, callers, seconds);
  const after = await target.way?.traffic();
  return { ...sample, flights: ((after?.flights ?? 0) - (before?.flights ?? 0)) / sample.loops };
}

/** Measures the loop with each delay and each number of callers, in turns. */
async function measureRates(target: LapelTarget, { ways, rounds, callers, seconds }: FarOptions): Promise<Row[]> {
  const samples = new Map<string, Flown[]>();
  const keyOf = (way: number, count: number): string => `${way} ms, ${count} callers`;
  for (let round = 0; round < rounds; round += 1)
    for (const way of ways) {
      await goTo(target, way);
      for (const count of callers) {
        const sample = await measureFar(target, count, seconds);
        samples.set(keyOf(way, count), [...(samples.get(keyOf(way, count)) ?? []), sample]);
      }
    }
  return ways.flatMap((way) =>
    callers.map((count) => {
      const of = (figure: (sample: Flown) => number): number =>
        rounded(medianOf(samples.get(keyOf(way, count)) ?? [], figure));
      return {
        what: keyOf(way, count),
        'loops/s': of(({ rate }) => rate),
        'loop p50 ms': of(({ p50 }) => p50),
        'loop p99 ms': of(({ p99 }) => p99),
        'call p50 ms': of(({ callP50 }) => callP50),
        'call p99 ms': of(({ callP99 }) => callP99),
        'round trips/loop': of(({ flights }) => flights),
        'commits/loop': of(({ commits }) => commits),
        'nodes us/loop': of(({ cpu }) => cpu),
        'database us/loop': of(({ databaseCpu }) => databaseCpu),
      };
    }),
  );
}

/** Measures the loop while a work is done; the work may go on for as long again. */
async function measureBeside(target: LapelTarget, { prepare, run }: Work) {
  await prepare?.();
  let isDone = false;
  let isOver = false;
  const began = performance.now();
  let tookMs = Number.NaN;
  const work = run(() => isOver).then(() => {
    if (!isOver) tookMs = performance.now() - began;
    isDone = true;
  });
  const beside = await runClosedLoop(target, CALLERS, LONGEST_SECONDS, () => isDone);
  isOver = true;
  await work;
  return { beside, tookMs };
}

function besideRow(what: string, alone: Measurement, beside: Measurement, tookMs: number): Row {
  return {
    what,
    'loops/s': rounded(beside.rate),
    'of its rate alone': Number((beside.rate / alone.rate).toFixed(2)),
    'call p50 ms': rounded(beside.callP50),
    'call p99 ms': rounded(beside.callP99),
    'p99 alone': rounded(alone.callP99),
    'longest ms': rounded(beside.longestCall),
    'done in ms': Number.isNaN(tookMs) ? 'goes on' : rounded(tookMs),
  };
}

export interface FarOptions extends Options {
  /** The delays in milliseconds, in each direction. */
  ways: readonly number[];
}

/**
 * Measures a node whose database is some milliseconds away: its loop, and the calls of one developer while there is work for
 * many devices or rows of another one. Takes less than five minutes with three delays.
 */
export async function runFar(options: FarOptions): Promise<Table[]> {
  const { ways } = options;
  const devices = Math.max(options.devices, ...options.callers);
  await using stack = new AsyncDisposableStack();
  const env = { LAPEL_MQTT_ADDRESS_LOGINS: '0' }; // no limit per address, because all devices have the same one here
  const began = performance.now();
  const wanted = { devices, env, nodes: 1, isFar: true, profile: options.profile };
  const target = stack.adopt(await startLapel(wanted), (one) => one.close());
  const neighbour = stack.adopt(await createNeighbour(target, FLEET + ways.length), (one) => one.close());
  const works = worksOf(neighbour, target.mqttPort);
  await warmUp(target);

  const rows: Row[] = [];
  const alone = new Map<number, Measurement>();
  const slowestFirst = ways.toSorted((a, b) => b - a);
  for (const way of slowestFirst) {
    await goTo(target, way);
    alone.set(way, await runClosedLoop(target, CALLERS, options.seconds));
  }
  const add = async (way: number, work: Work): Promise<void> => {
    const { beside, tookMs } = await measureBeside(target, work);
    rows.push(besideRow(`${work.name}, ${way} ms`, alone.get(way) as Measurement, beside, tookMs));
  };

  // The slowest way first, because old rows go slowly there, and some must be left for the next.
  await neighbour.addOld(OLD_ROWS);
  await sleep(Math.max(0, began + FIRST_SWEEP_MS - performance.now()));
  for (const way of slowestFirst) {
    await goTo(target, way);
    await add(way, { name: RETENTION, run: neighbour.haveOldGone });
  }
  await neighbour.clear();

  const rates = await measureRates(target, options);
  for (const way of ways) {
    await goTo(target, way);
    for (const work of works) {
      await add(way, work);
      await neighbour.clear();
      await sleep(REST_MS);
    }
  }
  return [
    {
      name: 'Far database',
      about: 'The closed loop of one node, with so many milliseconds to the database in each direction.',
      rows: rates,
    },
    {
      name: 'Beside the work of another developer',
      about: `${CALLERS} callers while work for many devices or rows of another developer is done.`,
      rows,
    },
  ];
}
