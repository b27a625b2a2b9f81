import { setTimeout as pause } from 'node:timers/promises';
import { startReceiver } from '@lapel/device-sim/customer/receiver';
import { unexpected } from '@lapel/device-sim/customer/service-client';
import type { DeviceAccount } from '@lapel/device-sim/fleet/member';
import { createDevice, type Device } from '@lapel/device-sim/model/device';
import { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';
import { BrokenPromise, check } from './check.ts';
import { ADMIN_TOKEN, startCluster } from './nodes.ts';
import { createResults, type Results } from './results.ts';
import { APPLICATION, createApp, fetchToken, setUpTenant } from './tenant.ts';
import { createTimeline, type Output, type Timeline } from './timeline.ts';

interface Options {
  /** The folder for the nodes' data; the caller removes it. */
  folder: string;
  output: Output;
  /** Aborted when the user presses Ctrl-C. */
  stopped: AbortSignal;
}

const CAMERAS = 8;
const COMMANDS = 160;
const CALLERS = 8;
/** The node is killed after this many commands were answered 201. */
const KILL_AT = 60;
/** Milliseconds between two attempts of a request, and the longest time for all its attempts. */
const AGAIN_MS = 100;
const LONGEST_WAIT_MS = 30_000;

/** A camera, with the faults of the service that it has noticed. */
interface Camera {
  readonly device: Device;
  readonly complaints: readonly string[];
}

function createCamera(index: number, account: DeviceAccount, url: string, timeline: Pick<Timeline, 'arrow'>): Camera {
  const name = `camera ${index + 1}`;
  const reconnect = { min: 100, max: 1000 };
  const device = createDevice({
    ...account,
    url,
    seed: index + 1,
    reconnect,
    behaviour: { latency: { min: 1, max: 30 } },
  });
  const complaints: string[] = [];
  device.events.on('offline', () =>
    timeline.arrow({ from: name, to: 'lapel', text: 'has lost its connection', good: false }),
  );
  device.events.on('online', () => timeline.arrow({ from: name, to: 'lapel', text: 'is connected' }));
  device.events.on('violation', (fault) => complaints.push(`${name}: ${fault}`));
  device.events.on('complaint', ({ reason }) => complaints.push(`${name} got a complaint from the service: ${reason}`));
  return { device, complaints };
}

/**
 * Acts as the customer's application: it repeats the request, with the same Idempotency-Key, until it gets an answer from
 * either node. Resolves with the transactionId, and whether the request was repeated.
 */
async function submit(
  apiUrl: string,
  token: string,
  key: string,
  deviceId: string,
): Promise<{ id: number; again: boolean }> {
  const began = performance.now();
  const url = `${apiUrl}/v1/applications/${APPLICATION}/devices/${deviceId}/settings/wifi`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key };
  const body = JSON.stringify([{ ssid: key, security: 'OPEN' }]);
  for (let asked = 1; performance.now() - began < LONGEST_WAIT_MS; asked += 1) {
    const answer = await fetch(url, { method: 'PUT', headers, body }).catch(() => undefined);
    if (answer?.status === 201) {
      const { transactionId } = (await answer.json()) as { transactionId: number };
      return { id: transactionId, again: asked > 1 };
    }
    const goesOn = answer === undefined || answer.status === 503 || answer.status === 409; // 409: the first request is still in progress
    if (!goesOn)
      throw unexpected('PUT settings/wifi', {
        status: answer.status,
        body: (await answer.json()) as Record<string, unknown>,
      });
    await pause(AGAIN_MS);
  }
  throw new BrokenPromise(`not as promised: request ${key} is answered within ${LONGEST_WAIT_MS / 1000} s`);
}

async function until(holds: () => boolean, promise: string): Promise<void> {
  const began = performance.now();
  while (!holds()) {
    check(performance.now() - began < LONGEST_WAIT_MS, `${promise} within ${LONGEST_WAIT_MS / 1000} s`);
    await pause(20);
  }
}

/**
 * Runs two nodes on one PostgreSQL database, behind a balancer. One of them is killed under load; every command that was
 * answered 201 must be carried out once and reported once. Throws a BrokenPromise otherwise.
 */
export async function clusterDemo({ folder, output, stopped }: Options): Promise<void> {
  const timeline = createTimeline(output);
  const results = createResults();
  await using stack = new AsyncDisposableStack();
  const cluster = await startCluster(folder, ['node-1', 'node-2'], stack);
  const { addresses } = cluster;
  let key = '';
  let repeated = 0;
  let forged = '';
  const receiver = stack.use(
    await startReceiver({
      listen: { host: '127.0.0.1', port: 0 },
      authenticationKey: () => key,
      onReceived({ webhookId, event }) {
        if (results.isRepeated(webhookId)) repeated += 1;
        results.add({ webhookId, notification: event as Parameters<Results['add']>[0]['notification'] });
      },
      onForged(reason) {
        forged = reason;
      },
    }),
  );

  timeline.heading('Lapel as two nodes on PostgreSQL: one of them is killed, nothing is missing');
  timeline.print(`
  REST API         ${addresses.http}, a balancer before both nodes
  MQTT             ${addresses.mqtt}, the same
  database         ${cluster.database}
  webhooks go to   ${receiver.url}`);

  timeline.heading(`1. An application with ${CAMERAS} cameras; each is connected to one of the nodes`);
  const tenant = await setUpTenant({ adminUrl: addresses.admin, adminToken: ADMIN_TOKEN, cameras: CAMERAS, timeline });
  const token = await fetchToken(addresses.http, tenant.secret);
  const app = createApp({ apiUrl: addresses.http, token, timeline });
  const issued = await app.call('POST', '/refresh_authkey', 201, () => 'refresh_authkey: a key that verifies webhooks');
  key = String(issued['authenticationKey']);
  await app.call('PATCH', '', 200, () => 'settings: deviceEvent, where webhooks go', {
    body: { deviceEvent: receiver.url },
  });
  let over = false; // at the end the cameras disconnect, which is not shown
  const visible: Pick<Timeline, 'arrow'> = { arrow: (line) => (over ? undefined : timeline.arrow(line)) };
  const cameras = tenant.accounts.map((account, index) => createCamera(index, account, addresses.mqtt, visible));
  for (const { device } of cameras) stack.use(device);
  await Promise.all(cameras.map(({ device }) => device.connect()));
  const made = new Set<number>();
  for (const { device } of cameras) made.add(await app.submit('POST', `/devices/${device.deviceId}`, 'activate', {}));
  await until(() => [...made].every(results.has), 'every activation has its webhook');

  timeline.heading(`2. ${COMMANDS} commands by ${CALLERS} callers at once; node-1 is killed in the middle`);
  let asked = 0;
  let askedAgain = 0;
  let killed: Promise<void> | undefined;
  async function caller(): Promise<void> {
    while (asked < COMMANDS && !stopped.aborted) {
      asked += 1;
      const number = asked;
      const { deviceId } = cameras[number % CAMERAS]?.device ?? { deviceId: '' };
      const { id, again } = await submit(addresses.http, token, `command ${number}`, deviceId);
      made.add(id);
      if (again) askedAgain += 1;
      if (made.size >= CAMERAS + KILL_AT && !killed) {
        timeline.arrow({
          from: 'somebody',
          to: 'node-1',
          text: `kill -9, after ${made.size - CAMERAS} commands`,
          good: false,
        });
        killed = cluster.nodes[0]?.kill();
      }
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller));
  stopped.throwIfAborted();
  await killed;
  timeline.note(
    `${COMMANDS} commands were answered 201; ${askedAgain} of them were asked for again, with their Idempotency-Key`,
  );

  timeline.heading('3. The webhooks and the cameras confirm it');
  await until(() => [...made].every(results.has), 'every command has its webhook');
  await Promise.all(cameras.map(({ device }) => device.idle()));
  const executions = cameras.flatMap(({ device }) => [...device.executions]);
  check(made.size === COMMANDS + CAMERAS, `${COMMANDS + CAMERAS} requests are as many transactions, not ${made.size}`);
  for (const id of made) check(results.count(id) === 1, `transaction ${id} has one result`);
  for (const [id, times] of executions) check(times === 1, `transaction ${id} is executed once`);
  check(executions.length === made.size, `${made.size} commands are executed, not ${executions.length}`);
  for (const { complaints } of cameras) check(complaints.length === 0, complaints.join('; '));
  check(forged === '', `every webhook is genuine, but: ${forged}`);
  timeline.print(
    `  commands        ${made.size}\n  executed        ${executions.length}, each once, in order\n  results         ${made.size}, each one webhook-id (${repeated} came twice, with the same)`,
  );
  over = true;
  const seconds = (timeline.elapsed() / 1000).toFixed(1);
  timeline.heading(`All as promised: a node died, and nothing was lost, nothing done twice (${seconds} s)`);
}
