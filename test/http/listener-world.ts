import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Test } from 'tap';
import { Client } from 'undici';
import { JsonSlices, lazily } from '../../src/edge/http/json-slices.ts';
import { createListener } from '../../src/edge/http/listener.ts';
import { nextPage } from '../../src/edge/http/paging.ts';
import { routesOf } from '../../src/edge/http/route.ts';
import { createMetrics } from '../../src/metrics.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';

const contracts = loadContracts();

/** A listener with a few routes of its own, and a client that sends paths unchanged. */
export async function startListener(
  t: Test,
  maxInFlight?: number,
  bounds: Partial<Parameters<typeof createListener>[0]> = {},
) {
  const held = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const atOnce = { now: 0, most: 0, served: 0 };
  const route = routesOf<object, undefined>();
  const routes = [
    route('POST', '/echo', null, { body: 'rest/activation-request' }, (_, { body }) => ({ status: 200, body })),
    route('POST', '/echo-short', null, { body: 'rest/activation-request', bodyLimit: 1_000 }, (_, { body }) => ({
      status: 200,
      body,
    })),
    route('POST', '/echo-own', 'any', { body: 'rest/activation-request' }, (_, { body }) => ({ status: 200, body })),
    route('POST', '/refuse-own', 'any', { body: 'rest/activation-request' }, () => {
      throw new DomainError('RATE_LIMITED', { values: { seconds: 1 } });
    }),
    route('POST', '/perhaps', null, { body: 'rest/activation-request', bodyOptional: true }, (_, { body }) => ({
      status: 200,
      body,
    })),
    route('GET', '/devices/{deviceId}/{transactionId}', null, {}, (_, { params }) => ({ status: 200, body: params })),
    route('GET', '/list', null, { query: 'common/paging-query' }, (_, input) => ({
      status: 200,
      headers: nextPage(input, input.query, 250),
      body: input.query,
    })),
    route('GET', '/strict', null, {}, () => ({ status: 200 })),
    route('DELETE', '/strict', null, {}, () => ({ status: 204 })),
    route('GET', '/breaks', null, {}, () => {
      throw new Error('the secret reason');
    }),
    route('GET', '/held', null, {}, async () => {
      entered.resolve();
      await held.promise;
      return { status: 200, body: { done: true } };
    }),
    route('GET', '/overlap', null, {}, async () => {
      atOnce.now += 1;
      atOnce.most = Math.max(atOnce.most, atOnce.now);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce.now -= 1;
      atOnce.served += 1;
      return { status: 200, body: { number: atOnce.served } };
    }),
    route('GET', '/long', null, {}, () => ({
      status: 200,
      body: new JsonSlices({
        rows: lazily(Array<number>(20_000).fill(1), (number) => ({ number, text: 'é' })),
        none: lazily([], () => ({})),
        total: 20_000,
      }),
    })),
    route('GET', '/breaks-late', null, {}, () => ({
      status: 200,
      body: new JsonSlices({
        rows: lazily([...Array(20_000).keys()], (index) => {
          if (index === 19_000) throw new Error('too late to say so');
          return { index };
        }),
      }),
    })),
    route('GET', '/own', 'any', {}, async () => {
      entered.resolve();
      await held.promise;
      return { status: 200, body: {} };
    }),
  ];
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const metrics = createMetrics();
  const listener = createListener({
    name: 'api',
    routes,
    services: {},
    authorize: () => undefined,
    strictPaths: ['/strict'],
    baseUrl: () => 'https://lapel.example/base',
    contracts,
    clock: createFakeClock(),
    ids: randomIds,
    log: createLog({ level: 'debug', destination }),
    metrics,
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(bounds as object),
  });
  const { port } = await listener.listen('127.0.0.1', 0);
  const client = new Client(`http://127.0.0.1:${port}`);
  t.teardown(async () => {
    held.resolve();
    await client.destroy();
    await listener.drain();
  });
  async function request(method: string, path: string, body?: string | Buffer, headers: Record<string, string> = {}) {
    const answer = await client.request({ method: method as 'GET', path, body: body ?? null, headers });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as unknown,
    };
  }
  return { listener, request, port, lines, metrics, held, entered, atOnce };
}

/** Writes bytes to a plain socket; resolves to everything that arrives until it is closed. */
export async function raw(port: number, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => (received += text));
  for (const part of parts) socket.write(part);
  await new Promise((resolve) => socket.once('close', resolve).once('error', resolve));
  return received;
}
