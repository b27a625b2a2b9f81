import { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';
import { type AccountSource, readAccounts, readToken } from '../customer/accounts.ts';
import { createApplicationCalls } from '../customer/application-calls.ts';
import { createPointed, PRIVATE_ADVICE } from '../customer/pointed.ts';
import { type ApplicationAccess, provision } from '../customer/provision.ts';
import { type Receiver, startReceiver } from '../customer/receiver.ts';
import { inParallel } from '../customer/service-client.ts';
import { beginningWith } from '../mqtt/addresses.ts';
import { deriveSeed } from '../random.ts';
import { reach } from '../scenario/reach.ts';
import { createTimerWheel } from '../timer-wheel.ts';
import { pause, systemTimers } from '../timers.ts';
import { trust } from '../trust.ts';
import { UsageError } from '../usage-error.ts';
import { readTraffic } from './read-traffic.ts';
import { addTrouble, newTally, type ReplayTally } from './replay-tally.ts';
import { createReplayedDevice } from './replayed-device.ts';

export interface ReplaySettings {
  readonly file: string;
  readonly faster: number;
  readonly run: string;
  readonly seed: number;
  /** The addresses of the nodes for devices. */
  readonly mqtt: readonly string[];
  /** The certificate authorities to trust as well. */
  readonly caFile: string | undefined;
  readonly api: string;
  /** Milliseconds to wait until the service answers. */
  readonly wait: number;
  readonly accounts: AccountSource;
  /** The application for which the devices are activated, with a receiver of its own. */
  readonly application: ApplicationAccess | undefined;
  readonly webhook: { readonly host: string; readonly port: number; readonly publicUrl: string | undefined };
  /** Whether everything that was registered is removed at the end. */
  readonly clean: boolean;
  readonly json: boolean;
}

/** The report of a replay. */
export interface ReplayRecord extends Omit<ReplayTally, 'events' | 'arrived'> {
  readonly file: string;
  readonly devices: number;
  readonly milliseconds: number;
  readonly faster: number;
  readonly events: number;
  /** Events whose webhook has arrived; null: the application has a receiver of its own. */
  readonly webhooks: number | null;
  /** Whether the record ended at its greatest size. */
  readonly isFull: boolean;
  /** Whether it was stopped before its end. */
  readonly isStopped: boolean;
}

const ACTIVATION_MILLISECONDS = 60_000;
const CONNECTING = 100;
const LOOK_MILLISECONDS = 20;
/** How long the replay waits at the end for the webhooks of events. */
const WEBHOOK_MILLISECONDS = 10_000;

/** The devices and the application of a replay; registers them unless they are given. */
async function castOf({ accounts: source, application, run, seed }: ReplaySettings, devices: number) {
  if (source.kind === 'file') {
    const accounts = readAccounts(source.file, devices);
    if (accounts.length < devices)
      throw new UsageError('--devices', `${source.file} has ${accounts.length} devices; the record has ${devices}`);
    return { accounts, application: application ?? null, clean: async () => {} };
  }
  const { adminUrl, developerId, token } = source;
  const places = Array.from({ length: devices }, (_, place) => place);
  const admin = { adminUrl, token: typeof token === 'string' ? token : readToken(token.dataDir) };
  return provision({ ...admin, developerId, run, seed, places, application });
}

/** Starts a receiver for the application, which notes the events that arrive. */
async function receive(
  { api, webhook }: ReplaySettings,
  application: ApplicationAccess,
  tally: ReplayTally,
): Promise<Receiver> {
  const pointed = createPointed(api, application);
  let key = '';
  const receiver = await startReceiver({
    listen: webhook,
    publicUrl: webhook.publicUrl,
    authenticationKey: () => key,
    onReceived({ event: { data } }) {
      if ('eventId' in data) tally.arrived.add(String(data.eventId));
    },
    onForged(reason) {
      tally.violations += 1;
      addTrouble(tally, 'receiver', `a webhook has a wrong signature: ${reason}`);
    },
  });
  try {
    key = await pointed.issueKey();
    await pointed.point(receiver.url, receiver.urlsUrl);
  } catch (error) {
    await receiver[Symbol.asyncDispose]();
    throw new UsageError('--webhook-url', `the service refuses it: ${(error as Error).message}; ${PRIVATE_ADVICE}`);
  }
  return receiver;
}

/**
 * Plays the devices of a record at a service. Rejects with a UsageError for a wrong option or record, and with
 * Unreachable.
 */
export async function runReplay(settings: ReplaySettings, stopped: AbortSignal): Promise<ReplayRecord> {
  const { file, faster, seed, mqtt, api, accounts: source, wait } = settings;
  const { scripts, startedAt, isFull } = await readTraffic(file);
  if (settings.caFile !== undefined) trust(settings.caFile);
  const timers = createTimerWheel(systemTimers);
  const addresses = source.kind === 'register' ? [source.adminUrl, api, ...mqtt] : mqtt;
  await reach(addresses, { patience: wait, timers, stopped });
  await using stack = new AsyncDisposableStack();
  const { accounts, application, clean } = await castOf(settings, scripts.length);
  if (settings.clean) stack.defer(clean);
  const tally = newTally();
  const receiver = application && !settings.application ? await receive(settings, application, tally) : null;
  if (receiver) stack.use(receiver);
  const devices = scripts.map((script, place) =>
    stack.use(
      createReplayedDevice({
        account: accounts[place]!,
        script,
        startedAt,
        url: beginningWith(mqtt, place),
        faster,
        seed: deriveSeed(seed, place),
        timers,
        tally,
      }),
    ),
  );
  if (application) {
    // Events of a device that is not activated would reach nobody, so all devices are activated before the first step.
    await inParallel(devices, CONNECTING, (device) => device.connect());
    await createApplicationCalls(api, application).activate(devices, ACTIVATION_MILLISECONDS);
    await inParallel(devices, CONNECTING, (device) => device.disconnect());
  }
  const began = timers.now();
  await Promise.all(devices.map((device) => device.play(stopped)));
  const { events, arrived, ...counts } = tally;
  const missing = (): number => [...events].filter((eventId) => !arrived.has(eventId)).length;
  const end = timers.now() + WEBHOOK_MILLISECONDS;
  while (receiver && missing() > 0 && timers.now() < end && !stopped.aborted)
    await pause(timers, LOOK_MILLISECONDS, stopped);
  return {
    ...counts,
    file,
    devices: devices.length,
    milliseconds: Math.round(timers.now() - began),
    faster,
    events: events.size,
    webhooks: receiver ? events.size - missing() : null,
    isFull,
    isStopped: stopped.aborted,
  };
}
