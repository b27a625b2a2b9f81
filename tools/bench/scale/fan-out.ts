import { Pool } from 'undici';
import { type LapelTarget, startLapel } from '../lapel-target.ts';
import { medianOf, type Options } from '../measure.ts';
import type { Row, Table } from '../report.ts';
import { type Application, forEach, makeApplication } from './applications.ts';
import { createSink, type Sink } from './sink.ts';

const HEALTHY = 80;
const HANGING = 1000;
/** The number of webhooks that are due for each receiver that hangs (takes the connection and never answers). */
const WAITING = 8;
const BUSY = 16;
const BACKLOGGED = 64;
/** The number of webhooks that each receiver with a backlog gets again, at once. */
const AGAIN = 128;
const SLOW_MS = 500;

interface World {
  target: LapelTarget;
  add(prefix: string, count: number, sink: Sink): Promise<Map<string, Application>>;
  close(): Promise<void>;
}

async function open(): Promise<World> {
  const target = await startLapel({ devices: 1 });
  const pool = new Pool(target.origins[0] ?? '', { connections: 128, pipelining: 1 });
  return {
    target,
    async add(prefix, count, sink) {
      const made = new Map<string, Application>();
      await forEach(count, 8, async (number) => {
        const name = `${prefix}-${number}`;
        made.set(name, await makeApplication(target, pool, name, sink));
      });
      return made;
    },
    async close() {
      await pool.close();
      await target.close();
    },
  };
}

/**
 * Lets each application send itself an event and wait for its webhook, again and again. Returns webhooks per second,
 * and the longest wait in milliseconds.
 */
async function loop(applications: Map<string, Application>, sink: Sink, seconds: number) {
  const began = performance.now();
  let count = 0;
  let longest = 0;
  await Promise.all(
    [...applications].map(async ([name, { send }]) => {
      while (performance.now() < began + seconds * 1000) {
        const started = performance.now();
        const came = sink.next(name);
        await send();
        await came;
        longest = Math.max(longest, performance.now() - started);
        count += 1;
      }
    }),
  );
  return { rate: count / ((performance.now() - began) / 1000), longest };
}

async function besideHanging({ seconds, rounds }: Options, stack: AsyncDisposableStack): Promise<Row> {
  const sink = stack.adopt(await createSink(), (each) => each.close());
  const dead = stack.adopt(await createSink(), (each) => each.close());
  dead.answers(Number.POSITIVE_INFINITY);
  const alone = stack.adopt(await open(), (world) => world.close());
  const beside = stack.adopt(await open(), (world) => world.close());
  const healthy = { alone: await alone.add('well', HEALTHY, sink), beside: await beside.add('well', HEALTHY, sink) };
  await loop(healthy.alone, sink, 2);
  await loop(healthy.beside, sink, 2);
  const hanging = await beside.add('hanging', HANGING, dead);
  for (let event = 0; event < WAITING; event += 1) {
    const sends = [...hanging.values()];
    await forEach(sends.length, 64, async (number) => sends[number]?.send());
  }
  const pairs: { alone: number; beside: number; longest: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { rate } = await loop(healthy.alone, sink, seconds);
    const other = await loop(healthy.beside, sink, seconds);
    pairs.push({ alone: rate, beside: other.rate, longest: other.longest });
  }
  return {
    case: `${HANGING} hang`,
    'floor webhooks/s': Math.round(medianOf(pairs, (pair) => pair.alone)),
    'webhooks/s': Math.round(medianOf(pairs, (pair) => pair.beside)),
    'longest wait ms': Math.round(Math.max(...pairs.map(({ longest }) => longest))),
    ratio: Number(medianOf(pairs, (pair) => pair.beside / pair.alone).toFixed(2)),
  };
}

/**
 * Measures healthy receivers while busy receivers, which use as many attempts as they can get, stop answering all at
 * once and still get events.
 */
async function busyThatHang({ seconds }: Options, stack: AsyncDisposableStack): Promise<Row> {
  const sink = stack.adopt(await createSink(), (each) => each.close());
  const busySink = stack.adopt(await createSink(), (each) => each.close());
  const world = stack.adopt(await open(), (each) => each.close());
  const healthy = await world.add('well', HEALTHY, sink);
  const busy = await world.add('busy', BUSY, busySink);
  let stopped = false;
  busySink.answers(20);
  const flood = Promise.all(
    [...busy.values()].flatMap(({ send }) =>
      Array.from({ length: 4 }, async () => {
        while (!stopped) await send();
      }),
    ),
  );
  await loop(healthy, sink, 3);
  const before = await loop(healthy, sink, seconds);
  busySink.answers(Number.POSITIVE_INFINITY);
  const after = await loop(healthy, sink, seconds);
  stopped = true;
  await flood;
  return {
    case: `${BUSY} busy ones begin to hang`,
    'floor webhooks/s': Math.round(before.rate),
    'webhooks/s': Math.round(after.rate),
    'longest wait ms': Math.round(after.longest),
    ratio: Number((after.rate / before.rate).toFixed(2)),
  };
}

/**
 * Measures healthy receivers in the second in which other receivers stop answering, just when each of them gets many
 * webhooks again. Each has answered as many before, so its window is large.
 */
async function backlogThatHangs(_: Options, stack: AsyncDisposableStack): Promise<Row> {
  const sink = stack.adopt(await createSink(), (each) => each.close());
  const backlogSink = stack.adopt(await createSink(), (each) => each.close());
  const world = stack.adopt(await open(), (each) => each.close());
  const healthy = await world.add('well', HEALTHY, sink);
  const backlogged = [...(await world.add('backlog', BACKLOGGED, backlogSink)).values()];
  const answered = async (count: number): Promise<void> => {
    while (backlogSink.answered() < count) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await forEach(AGAIN * BACKLOGGED, 64, async (number) => backlogged[number % BACKLOGGED]?.send());
  await answered(AGAIN * BACKLOGGED);
  backlogSink.answers(50);
  for (const [index, each] of backlogged.entries()) {
    await each.sendAgain();
    await answered(AGAIN * (BACKLOGGED + index + 1));
  }
  const before = await loop(healthy, sink, 1);
  backlogSink.answers(Number.POSITIVE_INFINITY);
  const [after] = await Promise.all([loop(healthy, sink, 1), ...backlogged.map((each) => each.sendAgain())]);
  return {
    case: `${BACKLOGGED} with a backlog begin to hang`,
    'floor webhooks/s': Math.round(before.rate),
    'webhooks/s': Math.round(after.rate),
    'longest wait ms': Math.round(after.longest),
    ratio: Number((after.rate / before.rate).toFixed(2)),
  };
}

/**
 * Measures a receiver that takes half a second for each webhook: whether it gets as many as 256 attempts at a time
 * allow.
 */
async function slowOne({ seconds }: Options, stack: AsyncDisposableStack): Promise<Row> {
  const sink = stack.adopt(await createSink(), (each) => each.close());
  sink.answers(SLOW_MS);
  const world = stack.adopt(await open(), (each) => each.close());
  const [slow] = (await world.add('slow', 1, sink)).values();
  if (!slow) throw new Error('there is no application');
  const most = 256 / (SLOW_MS / 1000);
  await forEach(most * (seconds + 8), 64, slow.send);
  while (sink.answered() < most * 2) await new Promise((resolve) => setTimeout(resolve, 50));
  const before = sink.answered();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const rate = (sink.answered() - before) / seconds;
  return {
    case: `one takes ${SLOW_MS} ms`,
    'floor webhooks/s': most,
    'webhooks/s': Math.round(rate),
    'longest wait ms': '',
    ratio: Number((rate / most).toFixed(2)),
  };
}

/** Measures how receivers that hang slow down the others, and how many webhooks a slow receiver gets. */
export async function runFanOut(options: Options): Promise<Table> {
  const rows: Row[] = [];
  for (const work of [besideHanging, busyThatHang, backlogThatHangs, slowOne]) {
    await using stack = new AsyncDisposableStack();
    rows.push(await work(options, stack));
  }
  const about = `${HEALTHY} receivers that answer at once get one event after another: first alone, then beside receivers that never answer. For the slow receiver, the floor is the highest rate that 256 attempts at a time allow.`;
  return { name: 'Fan-out', about, rows };
}
