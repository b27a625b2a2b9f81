import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

/** A number, or the text that a peer uses instead. */
export type TransactionId = number | string;

/** A webhook that the receiver has got: its id, and the transaction that it tells of. */
export interface Told {
  webhookId: string;
  transaction: { transactionId: TransactionId; status: string };
}

/**
 * Starts a receiver of webhooks, which wakes the caller that waits for the result of the transaction. `onTold` sees each
 * webhook of a transaction.
 */
export async function createReceiver({ onTold }: { onTold?: ((told: Told) => void) | undefined } = {}) {
  const waiting = new Map<TransactionId, () => void>();
  const early = new Set<TransactionId>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(200, { 'content-length': 0 }).end();
      const event = JSON.parse(Buffer.concat(chunks).toString()) as {
        data: { transaction?: Told['transaction'] };
      };
      if (!event.data.transaction) return; // an event of a rollout
      const { transaction } = event.data;
      const { transactionId } = transaction;
      onTold?.({ webhookId: String(request.headers['webhook-id']), transaction });
      const wake = waiting.get(transactionId);
      if (wake) wake();
      else early.add(transactionId);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    /** Resolves when the result of the transaction has arrived. */
    result(transactionId: TransactionId): Promise<void> {
      if (early.delete(transactionId)) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.set(transactionId, () => {
          waiting.delete(transactionId);
          resolve();
        });
      });
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof createReceiver>>;

export interface Target {
  /** The addresses of the REST API; calls are spread over them, whichever of them has the device. */
  origins: string[];
  /** The address for the calls about a device; without it they are spread over `origins`. */
  originOf?(deviceId: string): string;
  headers: Record<string, string>;
  path(deviceId: string): string;
  deviceIds: string[];
  receiver: Receiver;
}

export const BODY = JSON.stringify([{ ssid: 'office', password: 'correct horse', security: 'WPA2' }]);

/** The connections of an application's callers; the service serves few more requests of one application at the same time. */
const MOST_CONNECTIONS = 240;

export interface Measurement {
  /** The closed loops that ended. */
  loops: number;
  /** Closed loops per second. A closed loop lasts from the submission of a command to the webhook with its result. */
  rate: number;
  /** Percentiles of the time of a closed loop, in milliseconds. */
  p50: number;
  p99: number;
  /** The times of the calls alone, until they were answered, in milliseconds: percentiles and the longest. */
  callP50: number;
  callP99: number;
  longestCall: number;
}

interface Bounds {
  seconds?: number;
  loops?: number;
  /** Ends the measurement as soon as it returns true. */
  isOver?(): boolean;
}

function percentiles(latencies: number[]) {
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), longest: latencies.at(-1) ?? Number.NaN };
}

/**
 * Runs `callers` callers: each changes the Wi-Fi of a device, waits for the webhook, and begins again, for as many
 * seconds, or until as many loops have begun.
 */
async function runCallers(
  target: Target,
  callers: number,
  { seconds = Number.POSITIVE_INFINITY, loops = Number.POSITIVE_INFINITY, isOver = () => false }: Bounds,
): Promise<Measurement> {
  const connections = Math.min(callers, MOST_CONNECTIONS);
  const pools = target.origins.map((origin) => new Pool(origin, { connections, pipelining: 1 }));
  const byOrigin = new Map(target.origins.map((origin, index) => [origin, pools[index]]));
  const headers = { ...target.headers, 'content-type': 'application/json' };
  const latencies: number[] = [];
  const calls: number[] = [];
  const end = performance.now() + seconds * 1000;
  let begun = 0;
  // Devices are connected to the nodes in turn. Each round of calls over the nodes begins one node later than the round
  // before; otherwise each call would reach the node that has its device.
  const nextPool = (): Pool => pools[(begun + Math.floor(begun / pools.length)) % pools.length] as Pool;
  const caller = async (first: number): Promise<void> => {
    for (let turn = first; begun < loops && performance.now() < end && !isOver(); turn += callers) {
      const deviceId = target.deviceIds[turn % target.deviceIds.length] as string;
      const pool = byOrigin.get(target.originOf?.(deviceId) ?? '') ?? nextPool();
      begun += 1;
      const started = performance.now();
      const answer = await pool.request({ method: 'PUT', path: target.path(deviceId), headers, body: BODY });
      const text = await answer.body.text();
      calls.push(performance.now() - started);
      if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${text}`);
      await target.receiver.result((JSON.parse(text) as { transactionId: TransactionId }).transactionId);
      latencies.push(performance.now() - started);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  const elapsed = (performance.now() - started) / 1000;
  await Promise.all(pools.map((pool) => pool.close()));
  const { p50, p99 } = percentiles(latencies);
  const { p50: callP50, p99: callP99, longest: longestCall } = percentiles(calls);
  return { loops: latencies.length, rate: latencies.length / elapsed, p50, p99, callP50, callP99, longestCall };
}

/** Runs the closed loop for `seconds`, or until `isOver`. */
export const runClosedLoop = (
  target: Target,
  callers: number,
  seconds: number,
  isOver: () => boolean = () => false,
): Promise<Measurement> => runCallers(target, callers, { seconds, isOver });

// V8 has compiled the code of a loop for good after some 20,000 loops under load. Loops are counted, because a slow
// machine makes fewer of them in the same time.
const WARM_CALLERS = 64;
const WARM_LOOPS = 20_000;

/** Runs so many loops that the code of the target is compiled and its caches are filled, at most for so many seconds. */
export async function warmUp(target: Target, seconds = Number.POSITIVE_INFINITY): Promise<void> {
  await runCallers(target, WARM_CALLERS, { loops: WARM_LOOPS, seconds });
}
