import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';

/** The milliseconds of a webhook in a receiver that takes one at a time: 256 of them last for longer than an answer may. */
const TURN_MILLISECONDS = 75;
/** The milliseconds between an answer and its store, in a receiver that answers before. */
const STORE_MILLISECONDS = 500;

/** The faults of a customer's receiver. */
export type Flaw =
  | 'takes-forged'
  | 'wants-the-former-header'
  | 'takes-old'
  | 'fails-at-unknown'
  | 'fails-at-double'
  | 'fails-at-new-types'
  | 'fails-at-large'
  | 'refuses-the-past'
  | 'verifies-what-it-has-parsed'
  | 'keeps-one-of-each-transaction'
  | 'keeps-repetitions'
  | 'keeps-repetitions-later'
  | 'keeps-what-it-refuses'
  | 'puts-nothing-in-order'
  | 'waits-for-nothing'
  | 'reads-one-signature'
  | 'takes-one-at-a-time'
  | 'answers-before-it-stores';

const TYPES = /^(transaction|bluetooth|custom|call|test)\b/;
const MEMBERS = ['applicationId', 'deviceId', 'transaction'];

/** Verifies a webhook by the documents alone. */
function isGenuine(headers: IncomingHttpHeaders, body: Buffer, key: string, flaws: readonly Flaw[]): boolean {
  const [id, at] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
  if (!flaws.includes('takes-old') && !(Math.abs(Date.now() / 1000 - Number(at)) <= 300)) return false;
  if (flaws.includes('takes-forged')) return true;
  if (flaws.includes('wants-the-former-header') && !('x-notification-key' in headers)) return false;
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64');
  const expected = Buffer.from(
    `v1,${createHmac('sha256', bytes).update(`${id}.${at}.`).update(body).digest('base64')}`,
  );
  return String(headers['webhook-signature'])
    .split(' ', flaws.includes('reads-one-signature') ? 1 : undefined)
    .map((one) => Buffer.from(one))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

/** The reasons for NOT RUN, without that of a machine that was too busy for a burst. */
export const withoutLoad = (notRun: readonly string[]): string[] =>
  notRun.filter((reason) => !/^burst: .*the simulator (was too slow|itself stood still)/.test(reason));

/** The expectations that do not hold, without those that a machine was too busy to measure: `withoutLoad` has these. */
export const brokenOf = <One extends { holds: boolean; measurable: boolean }>(verdicts: readonly One[]): One[] =>
  verdicts.filter(({ holds, measurable }) => measurable && !holds);

/**
 * The events of devices, as the documents say: each is handled when the one before has come. Those behind a number that has not
 * come are held, until somebody reads the list; then the number counts as missing.
 */
function createOrdering(handle: (id: string) => void, miss: (deviceId: string, number: number) => void) {
  const devices = new Map<string, { next: number; held: Map<number, string> }>();
  function goOn(device: { next: number; held: Map<number, string> }): void {
    for (let id = device.held.get(device.next); id !== undefined; id = device.held.get(device.next)) {
      device.held.delete(device.next);
      device.next += 1;
      handle(id);
    }
  }
  return {
    came(deviceId: string, number: number, id: string): void {
      const device = devices.get(deviceId) ?? { next: number, held: new Map<number, string>() };
      devices.set(deviceId, device);
      if (number >= device.next) device.held.set(number, id);
      goOn(device);
    },
    giveUp(): void {
      for (const [deviceId, device] of devices)
        while (device.held.size > 0) {
          miss(deviceId, device.next);
          device.next += 1;
          goOn(device);
        }
    },
  };
}

/** A customer's receiver, a real server on 127.0.0.1: good, or with flaws. */
export async function startOwnReceiver(t: Test, key: string | (() => string), ...flaws: readonly Flaw[]) {
  const has = (flaw: Flaw): boolean => flaws.includes(flaw);
  const seen = new Map<string, number>();
  const bodies: Buffer[] = [];
  const paths: string[] = [];
  const kept: string[] = [];
  const names = new Set<string>();
  /** What is written into the list only after it was read. */
  const later: string[] = [];
  /** What is stored only after it was answered. */
  const unstored = new Set<NodeJS.Timeout>();
  let lists = 0;
  let turn = Promise.resolve();
  const ordering = createOrdering(
    (id) => kept.push(id),
    (deviceId, number) => kept.push(`missing:${deviceId}:${number}`),
  );

  const signedBody = (body: Buffer): Buffer =>
    has('verifies-what-it-has-parsed') ? Buffer.from(JSON.stringify(JSON.parse(body.toString()))) : body;

  function keep(
    id: string,
    data: { deviceId?: string; transaction?: { transactionId: number } },
    number: number,
  ): void {
    const name = has('keeps-one-of-each-transaction') ? String(data.transaction?.transactionId) : id;
    if (names.has(name) && has('keeps-repetitions-later')) later.push(id);
    if (names.has(name) && !has('keeps-repetitions')) return;
    names.add(name);
    if (number > 0 && !has('puts-nothing-in-order') && !has('keeps-repetitions')) {
      ordering.came(data.deviceId ?? '', number, id);
      if (has('waits-for-nothing')) ordering.giveUp();
    } else kept.push(id);
  }

  function statusFor(headers: IncomingHttpHeaders, body: Buffer): number {
    const id = String(headers['webhook-id']);
    if (!isGenuine(headers, signedBody(body), typeof key === 'string' ? key : key(), flaws)) {
      if (has('keeps-what-it-refuses')) kept.push(id);
      return 401;
    }
    seen.set(id, (seen.get(id) ?? 0) + 1);
    if (has('fails-at-large') && body.length > 100 * 1024) return 413;
    const { type, timestamp, data } = JSON.parse(body.toString()) as { type: string; timestamp: string; data: object };
    if (has('fails-at-new-types') && !TYPES.test(type)) return 400;
    if (has('refuses-the-past') && Date.now() - Date.parse(timestamp) > 3_600_000) return 409;
    const isStrict = has('fails-at-unknown') && type.startsWith('transaction.');
    if (isStrict && Object.keys(data).some((name) => !MEMBERS.includes(name))) return 422;
    if (has('fails-at-double') && seen.get(id) === 2) return 500;
    const store = (): void => keep(id, data, Number(headers['lapel-device-sequence'] ?? 0));
    if (has('answers-before-it-stores')) unstored.add(setTimeout(store, STORE_MILLISECONDS));
    else store();
    return 204;
  }

  function answerList(response: ServerResponse): void {
    lists += 1;
    ordering.giveUp();
    // A receiver that writes its list anew has none for a moment.
    if (lists === 2) response.writeHead(404);
    else kept.push(...(lists > 1 ? later.splice(0) : []));
    response.end(lists === 2 ? '' : JSON.stringify(kept));
  }

  /** Ends as a killed process does: with all connections, and with what it has not stored. */
  function restart(response: ServerResponse): void {
    for (const timer of unstored) clearTimeout(timer);
    response.end(() => server.closeAllConnections());
  }

  const server = createServer((request, response) => {
    if (request.method === 'GET') return answerList(response);
    if (request.url === '/restart') return restart(response);
    void buffer(request).then(async (body) => {
      if (has('takes-one-at-a-time')) {
        turn = turn.then(() => pause(TURN_MILLISECONDS));
        await turn;
      }
      const status = statusFor(request.headers, body);
      bodies.push(body);
      paths.push(request.url ?? '');
      response.writeHead(status, { 'x-customer': 'yes' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, seen, bodies, paths };
}
