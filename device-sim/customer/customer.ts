import { createLapelClient, type LapelClient } from '../../src/clients/client/lapel-client.ts';
import { LapelError } from '../../src/clients/client/lapel-error.ts';
import { URL_SETTINGS, WEBHOOK_SETTINGS } from '../../src/clients/client/operations.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { KeyOf } from '../model/plans.ts';
import { pause, type Timers } from '../timers.ts';
import { UsageError } from '../usage-error.ts';
import type { Action } from './action.ts';
import { createActivation } from './activation.ts';
import { createActs } from './acts.ts';
import { createLedger } from './create-ledger.ts';
import { createFollowed } from './follow.ts';
import type { Ledger } from './ledger.ts';
import type { ApplicationAccess } from './provision.ts';
import { type ReceivedWebhook, type Receiver, startReceiver } from './receiver.ts';
import type { ReceiverFault } from './receiver-fault.ts';
import { createReleases } from './releases.ts';
import { createRequests, reasonOf } from './requests.ts';
import { createSettling, type Settlement } from './settle.ts';

const SETTINGS = Object.keys(URL_SETTINGS) as (keyof typeof URL_SETTINGS)[];
const isWebhook = (name: string): boolean => WEBHOOK_SETTINGS.some((one) => one === name);

/** How long the service has for its first webhook. */
const REACH_MILLISECONDS = 15_000;

/** The customer of a fleet: an application with its receiver and its store, which acts and keeps books. */
export interface Customer extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly receiver: {
    /** Its address for the service; empty before `start`. */
    readonly url: string;
    /** Files that devices have uploaded. */
    readonly files: { readonly count: number; readonly bytes: number };
    /** From now on this happens to a share (0 to 1) of what comes; null: nothing. */
    play(fault: ReceiverFault | null, share?: number): void;
  };
  /** Receiver up, key issued, settings set; resolves when a webhook of the service has come. Rejects in words. */
  start(): Promise<void>;
  /** From now on the books have what the devices of the fleet tell of themselves. */
  follow(fleet: Pick<Fleet, 'devices' | 'events'>): void;
  /**
   * Activates those that are not; gives those that are activated then. Everybody is asked first, however long the service lets wait for that
   * (429). A device that does not answer keeps nobody from going on: when nobody has answered for `patience` milliseconds it is left where it is. Rejects in words when the service refuses the application.
   */
  activate(deviceIds: readonly string[], phase: string, patience: number): Promise<string[]>;
  /** By what a command is known in every run: the number of its action. Waits for the answer to its request, which may be slower. */
  readonly keyOf: KeyOf;
  /**
   * Does one thing; resolves when the service has answered. What comes of it is in the ledger; rejects never. `due`: when it should have
   * begun, from which on its time counts; now, without it.
   */
  act(action: Action, deviceId: string, phase: string, due?: number): Promise<void>;
  /**
   * Waits until everything accepted has its result, `milliseconds` at most; then asks the service about what has none, and puts
   * what is lost into the ledger.
   */
  settle(milliseconds: number): Promise<Settlement>;
  /** Removes from the service what actions have brought there: packages and their files. */
  clean(): Promise<void>;
}

type Settings = Awaited<ReturnType<LapelClient['readSettings']>>;

export function createCustomer({
  apiUrl,
  application: { applicationId, secret },
  authenticationKey: given,
  listen = { host: '127.0.0.1', port: 0 },
  publicUrl,
  admin,
  lateAfter,
  seed = 1,
  timers,
  stoodStill,
}: {
  apiUrl: string;
  application: ApplicationAccess;
  /** The key of the application; without it a new one is issued, and the former one ends. */
  authenticationKey?: string | undefined;
  /** Where the receiver listens. */
  listen?: { host: string; port: number };
  /** How the service reaches the receiver, when that is another address. */
  publicUrl?: string | undefined;
  /** For firmware. */
  admin?: { url: string; token: string } | undefined;
  /** Milliseconds after which a result is late. */
  lateAfter?: number;
  seed?: number;
  timers: Timers;
  /** Milliseconds of a span in which the simulator itself stood still: nobody else is blamed for them. */
  stoodStill?: (from: number, to: number) => number;
}): Customer {
  const stop = new AbortController();
  const { now } = timers;
  // One attempt: what fails is counted, and made again under the same key, with books of it.
  const lapel = createLapelClient({ baseUrl: apiUrl, applicationId, secret, attempts: 1, now });
  const ledger = createLedger({ began: now(), ...(lateAfter !== undefined && { lateAfter }), stoodStill });
  const requests = createRequests({ ledger, timers, stopped: stop.signal });
  const releases = createReleases({ lapel, applicationId, admin });
  const acts = createActs({ lapel, requests, releases, ledger });
  const { follow, device, onlineSince, onlineFor } = createFollowed(ledger, timers, stoodStill);
  const spentSince = (from: number): number => now() - from - (stoodStill?.(from, now()) ?? 0);
  const activation = createActivation({
    lapel,
    applicationId,
    requests,
    acts,
    timers,
    spentSince,
    stopped: stop.signal,
    device,
  });
  const settle = createSettling({
    lapel,
    requests,
    ledger,
    timers,
    spentSince,
    stopped: stop.signal,
    device,
    onlineSince,
    onlineFor,
  });
  let key = given ?? '';
  let before: Settings | undefined;
  let receiver: Receiver | undefined;
  const reached = Promise.withResolvers<void>();

  function receive(received: ReceivedWebhook): void {
    reached.resolve();
    ledger.received(received, now());
    const { data } = received.event;
    if ('transaction' in data) activation.concluded(data.transaction.transactionId, data.transaction.status);
  }

  const keyOf: KeyOf = (deviceId, transactionId) => {
    const known = ledger.actionOf(transactionId);
    if (known || ledger.isAccepted(transactionId)) return known;
    return requests.next(deviceId)?.then(() => keyOf(deviceId, transactionId));
  };

  async function set(settings: Parameters<LapelClient['updateSettings']>[0]['body']): Promise<void> {
    await requests.insist(() => lapel.updateSettings({ body: settings }));
  }

  return {
    ledger,
    receiver: {
      get url() {
        return receiver?.url ?? '';
      },
      get files() {
        return { count: receiver?.store.files ?? 0, bytes: receiver?.store.bytes ?? 0 };
      },
      play: (fault, share) => receiver?.play(fault, share),
    },

    async start() {
      receiver = await startReceiver({
        listen,
        publicUrl,
        authenticationKey: () => key,
        seed,
        onReceived: receive,
        onForged: (reason) => ledger.forged(reason, now()),
      });
      const { url, urlsUrl } = receiver;
      try {
        before = await requests.insist(() => lapel.readSettings());
        if (key === '') key = (await requests.insist(() => lapel.issueKey())).authenticationKey;
        await set(Object.fromEntries(SETTINGS.map((name) => [name, isWebhook(name) ? url : urlsUrl])));
        await requests.insist(() => lapel.sendTestEvent({ body: { setting: 'deviceEvent' } }));
      } catch (error) {
        throw inWords(error, { apiUrl, applicationId, url });
      }
      const late = pause(timers, REACH_MILLISECONDS, stop.signal).then(() => 'late' as const);
      if ((await Promise.race([reached.promise, late])) === 'late') {
        throw new UsageError('--webhook-url', `no genuine webhook came to ${url}: ${whyNone(ledger)}`);
      }
    },

    follow,

    async activate(deviceIds, phase, patience) {
      try {
        return await activation.activate(deviceIds, phase, patience);
      } catch (error) {
        throw inWords(error, { apiUrl, applicationId, url: receiver?.url ?? '' });
      }
    },
    keyOf,
    async act(action, deviceId, phase, due) {
      await acts.perform(action, deviceId, phase, due);
    },
    settle,
    clean: () => releases.clean(),

    async [Symbol.asyncDispose]() {
      // A service that is gone keeps the settings that it had.
      if (before && receiver) {
        const former = Object.fromEntries(SETTINGS.map((name) => [name, before?.[name] ?? null]));
        await lapel.updateSettings({ body: former }).catch(() => {});
      }
      stop.abort();
      await receiver?.[Symbol.asyncDispose]();
    },
  };
}

const whyNone = (ledger: Ledger): string =>
  ledger.figures().forged > 0
    ? 'the signature is not that of the key'
    : 'the service does not reach this address (--webhook-url says another one)';

/** An Error for people: what the service says, or that there is none. */
function inWords(error: unknown, at: { apiUrl: string; applicationId: string; url: string }): Error {
  if (!(error instanceof LapelError))
    return new Error(`cannot reach ${at.apiUrl}: ${reasonOf(error)}`, { cause: error });
  const text = `${error.status} ${reasonOf(error)}`;
  if (error.request.endsWith('/authenticate')) {
    return new UsageError('--application', `no access token for ${at.applicationId}: ${text}`);
  }
  if (error.status !== 400)
    return new Error(`the application ${at.applicationId} cannot be set up: ${text}`, { cause: error });
  const advice = 'for a receiver on a private address the service needs LAPEL_WEBHOOK_ALLOW_PRIVATE=true';
  return new UsageError('--webhook-url', `the service does not take ${at.url}: ${text}; ${advice}`);
}
