import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { call, type LapelTarget, startLapel } from '../lapel-target.ts';
import { medianOf, type Options } from '../measure.ts';
import type { Row, Table } from '../report.ts';

const HEALTHY = 80;
const HANGING = 1000;
/** The number of webhooks that are due for each receiver that hangs (takes the connection and never answers). */
const WAITING = 8;
const BUSY = 16;
const BACKLOGGED = 64;
/** The number of webhooks that each receiver with a backlog gets again, at once. */
const AGAIN = 128;
const SLOW_MS = 500;

interface Sink {
  url: string;
  /** Resolves when the next webhook for an application arrives. */
  next(applicationId: string): Promise<void>;
  /** The number of webhooks that this receiver has answered. */
  answered(): number;
  /** Sets after how many milliseconds later webhooks are answered: 0 at once, Infinity never. */
  answers(after: number): void;
  close(): void;
}

async function createSink(): Promise<Sink> {
  const waiting = new Map<string, (() => void)[]>();
  let delay = 0;
  let count = 0;
  const end = (response: ServerResponse): void => {
    count += 1;
    response.writeHead(200, { 'content-length': 0 }).end();
  };
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (delay === 0) end(response);
      else if (delay !== Number.POSITIVE_INFINITY) setTimeout(end, delay, response);
      waiting.get(request.url?.slice(1) ?? '')?.shift()?.();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: (applicationId) =>
      new Promise((resolve) => {
        const own = waiting.get(applicationId) ?? [];
        waiting.set(applicationId, own);
        own.push(resolve);
      }),
    answered: () => count,
    answers: (after) => {
      delay = after;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const SINCE = '2000-01-01T00:00:00.000000';
const UNTIL = '2199-12-31T00:00:00Z';
const SCOPE = 'svc:application:read svc:application:write';

interface Application {
  /** Lets the service send it a `test` event. */
  send(): Promise<void>;
  /** Lets the service send it everything again that was delivered. */
  sendAgain(): Promise<void>;
}

/** Makes an application whose setting `deviceEvent` is the URL of the receiver. */
async function makeApplication(target: LapelTarget, pool: Pool, name: string, sink: Sink): Promise<Application> {
  const { admin, root } = target;
  const origin = target.origins[0] ?? '';
  const made = await call(`${admin}/admin/v1/developers/bench/applications`, {
    method: 'POST',
    token: root,
    body: { applicationId: name, name },
  });
  const basic = Buffer.from(`${name}:${(JSON.parse(made) as { secret: string }).secret}`).toString('base64');
  const form = new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPE }).toString();
  const type = 'application/x-www-form-urlencoded';
  const issued = await call(`${origin}/api/v1/authenticate`, {
    method: 'POST',
    token: `Basic ${basic}`,
    body: form,
    type,
  });
  const token = `Bearer ${(JSON.parse(issued) as Record<string, string>)['access_token']}`;
  const base = `/v1/applications/${name}`;
  await call(`${origin}${base}/refresh_authkey`, { method: 'POST', token });
  await call(`${origin}${base}`, { method: 'PATCH', token, body: { deviceEvent: `${sink.url}/${name}` } });
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await pool.request({
      method: 'POST',
      path: `${base}/webhooks/${path}`,
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 202) throw new Error(`${answer.statusCode} ${text}`);
  };
  return {
    send: () => post('test', { setting: 'deviceEvent' }),
    sendAgain: () => post('deliveries/redeliver', { status: 'delivered', since: SINCE, until: UNTIL }),
  };
}

/** Calls `work` for each number below `count`, for `atATime` numbers at the same time. */
async function forEach(count: number, atATime: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const own = next;
      next += 1;
      await work(own);
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}

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
