import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { inParallel } from '@lapel/device-sim/customer/service-client';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import { createDevice, type Device } from '@lapel/device-sim/model/device';
import type { Range } from '@lapel/device-sim/random';
import { Webhook } from 'standardwebhooks';
import type { Test } from 'tap';
import { checkWebhook } from '../contract/checked-messages.ts';
import type { CrashTarget } from './crash-target.ts';
import { ADMIN_TOKEN } from './service-process.ts';

/** The moments that are visible from outside; the service may be killed at each of them. */
export interface Moments {
  /** A request was written to its socket. */
  requested: [];
  /** A request was answered 201. */
  accepted: [];
  /** A command reached a device, which has not acknowledged it yet. */
  command: [];
  /** A device wrote its answer to its socket. */
  answered: [];
  /** The PUBACK of an answer arrived: the answer is settled. */
  settled: [];
  /** A webhook arrived and was not answered yet. */
  webhook: [];
  /** A webhook was answered 204. */
  delivered: [];
}

/** Acts at the `nth` moment of a kind, at once or some milliseconds later; resolves then. */
export function actAt(
  moments: EventEmitter<Moments>,
  when: { moment: keyof Moments; nth: number; delay: number },
  act: () => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  const acts = (): void => {
    act();
    resolve();
  };
  const look = (): void => {
    seen += 1;
    if (seen !== when.nth) return;
    moments.off(when.moment, look);
    if (when.delay === 0) acts();
    else setTimeout(acts, when.delay);
  };
  moments.on(when.moment, look);
  return promise;
}

type Record = { transactionId: number; status: string };
type Answer = { status: number; replayed: boolean; body: { [name: string]: unknown } };
export type CrashWorld = Awaited<ReturnType<typeof startCrashWorld>>;

const APPLICATION = 'crash-app';
const SCOPE = 'svc:application:read svc:application:write svc:device:read svc:device:write';
const FINISHED = new Set(['succeeded', 'failed', 'cancelled']);
/** A guard against waiting for ever: nothing arrives after so long. */
const PATIENCE = 15_000;
/** Requests of the world at a time: thousands of devices would need as many connections. */
const AT_ONCE = 50;
/** Milliseconds before a request without an answer is repeated. */
const AGAIN = 100;

interface Options {
  devices: number;
  latency: Range;
}

/**
 * A target on fixed ports, with simulated devices, an application and a webhook receiver in this process. The target
 * may be killed synchronously at any moment that `moments` reports.
 */
export async function startCrashWorld(t: Test, target: CrashTarget, { devices: count, latency }: Options) {
  const { http, admin, mqtt } = target;
  const moments = new EventEmitter<Moments>();
  let token = '';
  let key = '';

  /** Rejects after an incomplete answer or a 503: then it is unknown whether the request was carried out. */
  async function call(
    port: number,
    method: string,
    path: string,
    body?: unknown,
    more: { [name: string]: string } = {},
  ): Promise<Answer> {
    const bearer = port === admin ? ADMIN_TOKEN : token;
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...more };
    const request = openRequest({ host: '127.0.0.1', port, method, path, headers, agent: false });
    const response = once(request, 'response') as Promise<[IncomingMessage & { statusCode: number }]>;
    request.end(body === undefined ? '' : JSON.stringify(body));
    request.once('finish', () => moments.emit('requested'));
    const [answer] = await response;
    const content = await text(answer);
    if (answer.statusCode === 503) throw new Error(content);
    const replayed = answer.headers['idempotency-replayed'] === 'true';
    return { status: answer.statusCode, replayed, body: content === '' ? {} : (JSON.parse(content) as Answer['body']) };
  }
  const api = (method: string, path: string, body?: unknown, more?: { [name: string]: string }): Promise<Answer> =>
    call(http, method, `/v1/applications/${APPLICATION}${path}`, body, more);

  // The receiver: the webhooks it got, by transaction and by webhook-id.
  const results = new Map<number, Map<string, { body: string; type: string }>>();
  const resultCame = new EventEmitter();
  let repeats = 0;
  function receive(webhookId: string, body: Buffer): void {
    const { type, data } = checkWebhook(body) as { type: string; data: { transaction?: Record } };
    if (!data.transaction) return; // an event of a rollout
    const { transactionId } = data.transaction;
    const known = results.get(transactionId) ?? new Map<string, { body: string; type: string }>();
    results.set(transactionId, known);
    const before = known.get(webhookId);
    if (before) {
      repeats += 1;
      if (before.body !== body.toString()) t.fail('the same webhook-id comes with the same body');
    } else known.set(webhookId, { body: body.toString(), type });
    moments.emit('webhook');
    resultCame.emit(String(transactionId));
  }
  async function answer(request: NodeJS.ReadableStream & { headers: object }, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const headers = request.headers as { 'webhook-id': string };
    new Webhook(key).verify(body, headers);
    receive(headers['webhook-id'], body);
    response.once('finish', () => moments.emit('delivered'));
    response.writeHead(204).end();
  }
  let deaf = false;
  const receiver = createServer((request, response) => {
    if (deaf) {
      moments.emit('webhook');
      return;
    }
    answer(request, response).catch((error: Error & { code?: string }) => {
      // The sender was killed in the middle of it.
      if (error.code !== 'ECONNRESET') t.fail(`a webhook that is not right: ${error.message}`);
      response.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  t.teardown(() => receiver.close());
  t.teardown(() => receiver.closeAllConnections());

  // The tenant and its devices.
  await call(admin, 'POST', '/admin/v1/developers', { developerId: 'crash', name: 'crash', deviceLimit: count });
  const made = await call(admin, 'POST', '/admin/v1/developers/crash/applications', {
    applicationId: APPLICATION,
    name: 'crash',
  });
  const login = await fetch(`http://127.0.0.1:${http}/api/v1/authenticate`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${APPLICATION}:${String(made.body['secret'])}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPE }),
  });
  token = String(((await login.json()) as Answer['body'])['access_token']);
  key = String((await api('POST', '/refresh_authkey')).body['authenticationKey']);
  await api('PATCH', '', { deviceEvent: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` });

  async function createOne(index: number): Promise<Device> {
    const deviceId = deviceIdFor(7, index);
    const registered = await call(admin, 'POST', '/admin/v1/developers/crash/devices', { deviceId });
    const device = createDevice({
      deviceId,
      credential: String(registered.body['credential']),
      url: `mqtt://127.0.0.1:${mqtt}`,
      seed: index,
      behaviour: { latency },
      reportStatus: false, // not needed here, and a third of the messages
      reconnect: { min: 20, max: 50 },
    });
    t.teardown(() => device.drop());
    device.events.on('command', () => moments.emit('command'));
    device.events.on('answer', () => moments.emit('answered'));
    device.events.on('acknowledged', () => moments.emit('settled'));
    device.events.on('violation', (fault) => t.fail(`${deviceId}: ${fault}`));
    device.events.on('complaint', ({ reason }) => t.fail(`complaint about ${deviceId}: ${reason}`));
    if (!target.mayRefuse) device.events.on('refused', ({ message }) => t.fail(`${deviceId} was refused: ${message}`));
    await device.connect();
    return device;
  }
  const devices = await inParallel(Array.from({ length: count }), AT_ONCE, (_, index) => createOne(index));

  /** Every transaction that was answered 201. */
  const accepted = new Set<number>();
  /** Every request that creates a transaction, by its Idempotency-Key. */
  let submitted = 0;
  const unanswered = new Map<string, { method: string; path: string; body: unknown }>();
  let repeated = 0;
  let replayed = 0;

  async function resultOf(transactionId: number): Promise<void> {
    if (results.has(transactionId)) return;
    const limit = new AbortController();
    const came = once(resultCame, String(transactionId), { signal: limit.signal }).catch(() => undefined);
    const late = pause(PATIENCE, undefined, { ref: false, signal: limit.signal })
      .then(() => t.fail(`transaction ${transactionId} reaches a result`))
      .catch(() => undefined);
    await Promise.race([came, late]);
    limit.abort();
  }

  async function transactionsOf(deviceId: string): Promise<Record[]> {
    const { status, body } = await api('GET', `/devices/${deviceId}/transactions?limit=1000`);
    const list = body['transactions'] as Record[] | undefined;
    if (status !== 200 || !list || body['total'] !== list.length) throw new Error(`a list of all: ${status}`);
    return list;
  }

  const world = {
    devices,
    moments,
    accepted,
    /** For requests that a test makes itself. */
    application: { port: http, token, path: `/v1/applications/${APPLICATION}` },
    /** A deaf receiver takes webhooks and never answers. */
    hear(hears: boolean): void {
      deaf = !hears;
    },
    /** The number of requested transactions; a repeated request counts once. */
    submitted: () => submitted,
    /** The number of webhooks that arrived again. */
    repeats: () => repeats,

    /**
     * Makes a request. Resolves to the transactionId, or to undefined if there was no answer; then `settled` repeats
     * it.
     */
    submit(method: string, path: string, body?: unknown): Promise<number | undefined> {
      submitted += 1;
      return world.ask(`key ${submitted}`, { method, path, body });
    },
    async ask(idempotencyKey: string, request: { method: string; path: string; body: unknown }) {
      const { method, path, body } = request;
      const more = { 'idempotency-key': idempotencyKey };
      const answered = await api(method, `/devices/${path}`, body, more).catch(() => undefined);
      if (!answered) {
        unanswered.set(idempotencyKey, request);
        return undefined;
      }
      unanswered.delete(idempotencyKey);
      if (answered.replayed) replayed += 1;
      if (answered.status !== 201) throw new Error(`${answered.status} ${JSON.stringify(answered.body)}`);
      const transactionId = Number(answered.body['transactionId']);
      accepted.add(transactionId);
      moments.emit('accepted');
      return transactionId;
    },
    setWifi: ({ deviceId }: Device, ssid: string): Promise<number | undefined> =>
      world.submit('PUT', `${deviceId}/settings/wifi`, [{ ssid, security: 'OPEN' }]),
    /** Cancels a transaction; it may be finished already, and there may be no answer. */
    async cancel({ deviceId }: Device, transactionId: number): Promise<void> {
      const answered = await api('DELETE', `/devices/${deviceId}/transactions/${transactionId}`).catch(() => undefined);
      if (answered && answered.status !== 204 && answered.status !== 409) throw new Error(`cancel: ${answered.status}`);
    },

    /**
     * Repeats the requests without an answer, with their keys. Waits until every transaction has its result and every
     * device is idle.
     */
    async settled(): Promise<void> {
      const deadline = performance.now() + PATIENCE;
      while (unanswered.size > 0 && performance.now() < deadline) {
        for (const [idempotencyKey, request] of unanswered) {
          repeated += 1;
          if ((await world.ask(idempotencyKey, request)) === undefined) await pause(AGAIN);
        }
      }
      for (const { deviceId } of devices) {
        for (const { transactionId } of await transactionsOf(deviceId)) await resultOf(transactionId);
      }
      await Promise.all(devices.map((device) => device.idle()));
    },

    /**
     * Stops the target and compares everything that was observed with the stored data. Resolves to the number of stored
     * transactions.
     */
    async verify(): Promise<number> {
      const lists = await inParallel(devices, AT_ONCE, ({ deviceId }) => transactionsOf(deviceId));
      const stored = new Map(lists.flat().map((record) => [record.transactionId, record]));
      await target.stop();

      const lost = [...accepted].filter((transactionId) => !stored.has(transactionId));
      t.same(lost, [], 'nothing that was answered with 201 is lost');
      t.comment(
        `${stored.size} requests; ${repeated} had no answer and came again: ${replayed} of them had been stored`,
      );
      t.comment(`${repeats} webhooks repeated`);
      const wrong: string[] = [];
      for (const { transactionId, status } of stored.values()) {
        const types = [...(results.get(transactionId)?.values() ?? [])].map(({ type }) => type);
        if (!FINISHED.has(status) || types.length !== 1 || types[0] !== `transaction.${status}`)
          wrong.push(`${transactionId}: ${status}, events ${types.join(' ')}`);
      }
      t.same(wrong, [], 'every transaction has exactly one result event, and that tells its status');
      const unknown = [...results.keys()].filter((transactionId) => !stored.has(transactionId));
      t.same(unknown, [], 'no result event tells of a transaction that does not exist');

      const rows = await target.deliveries();
      t.equal(new Set(rows.map(({ id }) => id)).size, rows.length, 'no transaction has two deliveries');
      t.equal(rows.length, stored.size, 'no transaction has none');
      t.same(
        rows.filter(({ status }) => status !== 'delivered'),
        [],
        'every delivery is recorded',
      );

      for (const { deviceId, executions } of devices) {
        const doubled = [...executions].filter(([, times]) => times !== 1);
        t.same(doubled, [], `${deviceId} has executed each command once`);
        const foreign = [...executions.keys()].filter((transactionId) => !stored.has(transactionId));
        t.same(foreign, [], 'no device has executed what does not exist');
      }
      return stored.size;
    },
  };

  // All devices are activated before the first kill.
  await inParallel(devices, AT_ONCE, ({ deviceId }) => world.submit('POST', deviceId, {}));
  await world.settled();
  return world;
}
