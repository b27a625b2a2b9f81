import { startReceiver } from '@lapel/device-sim/customer/receiver';
import { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';
import { readConfig } from '../../src/config.ts';
import { createLog, readableLines } from '../../src/runtime/log.ts';
import { createService } from '../../src/service.ts';
import { commandsByHand } from './by-hand.ts';
import { CAMERAS, type Camera, createCamera } from './cameras.ts';
import { BrokenPromise } from './check.ts';
import { createCustomerStore } from './customer-store.ts';
import { portNear } from './ports.ts';
import { createResults } from './results.ts';
import { APPLICATION, createApp, fetchToken, setUpTenant } from './tenant.ts';
import { createTimeline, type Output } from './timeline.ts';
import { tour } from './tour.ts';

interface Options {
  /** The folder for the service's data; the caller removes it. */
  folder: string;
  output: Output;
  /** Whether the demo ends after the tour. */
  once: boolean;
  /** Aborted when the user presses Ctrl-C. */
  stopped: AbortSignal;
}

const READING_MS = 400;

/** Rejects when `stopped` is aborted, with its reason. */
function interruption(stopped: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (stopped.aborted) reject(stopped.reason);
  stopped.addEventListener('abort', () => reject(stopped.reason), { once: true });
  promise.catch(() => undefined); // without this, a rejection that nobody awaits would end the process
  return promise;
}

/**
 * Runs the demo: the whole service with its embedded defaults, a tenant, five cameras and a webhook receiver, all in this
 * process. Resolves at its end. Throws a BrokenPromise when the service did not do what was promised, and the reason of
 * `stopped` when that was aborted during the tour.
 */
export async function demo({ folder, output, once, stopped }: Options): Promise<void> {
  const timeline = createTimeline(output);
  const results = createResults();
  const interrupted = interruption(stopped);
  await using stack = new AsyncDisposableStack();

  const config = readConfig({
    env: {
      LAPEL_DATA_DIR: folder,
      LAPEL_HTTP_PORT: String(await portNear(8080)),
      LAPEL_ADMIN_PORT: String(await portNear(8081)),
      LAPEL_MQTT_PORT: String(await portNear(1883)),
      LAPEL_OBJECTS_PORT: String(await portNear(8082)),
      LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true', // the receiver is on this machine
      // The timeline shows the events. One of its files is wrong on purpose and causes a warning, so only errors are logged.
      LAPEL_LOG_LEVEL: 'error',
    },
  });
  const log = createLog({
    level: config.logLevel,
    destination: process.stderr.isTTY ? await readableLines() : undefined,
  });
  let service = await createService(config, { log });
  stack.defer(() => service[Symbol.asyncDispose]());
  const { addresses, adminToken } = service;

  const store = stack.use(createCustomerStore({ config, endpoint: addresses.objects }));
  let authenticationKey = '';
  let forged = '';
  const receiver = await startReceiver({
    listen: { host: '127.0.0.1', port: 0 },
    authenticationKey: () => authenticationKey,
    store,
    onReceived({ webhookId, event }) {
      const notification = event as Parameters<typeof results.add>[0]['notification'];
      const { type, data } = notification;
      const repeated = results.isRepeated(webhookId);
      const text = `${type}, signature verified${repeated ? '; seen before: dropped' : ''}`;
      const transactionId = data.transaction?.transactionId;
      const good = type !== 'transaction.failed';
      timeline.arrow({
        from: 'lapel',
        to: 'webhook',
        text,
        good,
        ...(transactionId !== undefined && { transactionId }),
      });
      results.add({ webhookId, notification });
    },
    onUrlsWanted({ type, files }) {
      const text = `${type}, signature verified; presigned: ${files}`;
      timeline.arrow({ from: 'lapel', to: 'webhook', text });
    },
    onForged(reason) {
      forged = reason;
      timeline.arrow({ from: 'someone', to: 'webhook', text: `a webhook that is not genuine: ${reason}`, good: false });
    },
  });
  stack.use(receiver);

  timeline.heading('Lapel: a REST call becomes a command, its answer a signed webhook');
  timeline.print(`
  REST API         ${addresses.http}
  administration   ${addresses.admin}
  MQTT             ${addresses.mqtt}
  object store     ${addresses.objects}
  webhooks go to   ${receiver.url}
  data             ${folder}, removed at the end`);

  timeline.heading('1. A developer with an application and five cameras');
  const tenant = await setUpTenant({ adminUrl: addresses.admin, adminToken, cameras: CAMERAS, timeline });
  const token = await fetchToken(addresses.http, tenant.secret);
  const app = createApp({ apiUrl: addresses.http, token, timeline });
  const key = await app.call('POST', '/refresh_authkey', 201, () => 'refresh_authkey: a key that verifies webhooks');
  authenticationKey = String(key['authenticationKey']);
  const deviceEvent = { deviceEvent: receiver.url };
  await app.call('PATCH', '', 200, () => 'settings: deviceEvent, where webhooks go', { body: deviceEvent });

  const cameras = tenant.accounts.map((account, index): Camera => {
    const camera = createCamera(index, account, addresses.mqtt, timeline);
    stack.use(camera.device);
    return camera;
  });
  const walk = tour({
    app,
    admin: { url: addresses.admin, token: adminToken },
    cameras,
    results,
    timeline,
    store,
    receiver: { events: receiver.url, urls: receiver.urlsUrl },
    readingTimeMs: output.isTTY ? READING_MS : 0,
    async restartService() {
      await service[Symbol.asyncDispose]();
      service = await createService(config, { log });
    },
  });
  await Promise.race([walk, interrupted]);
  if (forged !== '') throw new BrokenPromise(`not as promised: every webhook is genuine, but: ${forged}`);
  const made = app.transactionIds();
  const events = cameras.flatMap(({ happened }) => happened).length;
  const seconds = (timeline.elapsed() / 1000).toFixed(1);
  timeline.heading(
    `All as promised: ${made.length} transactions and ${events} events, a verified webhook for each, none lost, none doubled (${seconds} s)`,
  );
  if (once) return;

  timeline.heading('See it in a browser:');
  timeline.print(`
  ${addresses.admin}/console   the operator's console; sign in with ${adminToken}
  ${addresses.http}/console   the application's; it is ${APPLICATION}, its secret ${tenant.secret}
  ${addresses.http}/docs      every call, explained`);

  timeline.heading('Go on by hand, in another terminal:');
  const next = Math.max(...made) + 1;
  for (const { what, command } of commandsByHand({
    addresses,
    token,
    adminToken,
    secret: tenant.secret,
    cameras,
    next,
  })) {
    timeline.print(`\n${timeline.paint('dim', `# ${what}`)}\n${command}`);
  }
  timeline.heading('The effects of these commands appear here. Ctrl-C ends the demo.');
  timeline.print('');
  timeline.live();
  await interrupted.catch(() => undefined);
  timeline.print('\nStopped; the data are removed.');
}
