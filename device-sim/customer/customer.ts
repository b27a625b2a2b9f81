import { createLapelClient } from '@lapel/client/lapel-client';
import type { Fleet } from '../fleet/fleet.ts';
import type { KeyOf } from '../model/plans.ts';
import { pause, type Timers } from '../timers.ts';
import { UsageError } from '../usage-error.ts';
import { aboutIn } from './about-webhook.ts';
import type { Action } from './action.ts';
import { createActionRunner } from './action-runner.ts';
import { createActivation } from './activation.ts';
import { createAudit } from './audit.ts';
import { createLedger } from './create-ledger.ts';
import { type Difference, differences } from './differences.ts';
import { createFollowed } from './follow.ts';
import type { ReceivedWebhook } from './genuine.ts';
import { createKeys } from './keys.ts';
import { createLateDownloads } from './late-downloads.ts';
import type { Ledger } from './ledger.ts';
import { createNodeFetch } from './node-fetch.ts';
import { createPointed } from './pointed.ts';
import { answerOf, createProbes, UNAVAILABLE } from './probes.ts';
import type { Program } from './program.ts';
import { createPrograms, type Programs } from './programs.ts';
import type { ApplicationAccess } from './provision.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import type { PlayedFault } from './receiver-fault.ts';
import { createReleases } from './releases.ts';
import { createRequests } from './requests.ts';
import type { RolloutSummary } from './rollout-closing.ts';
import type { RolloutPlan } from './rollout-plan.ts';
import { createRollouts } from './rollouts.ts';
import { createSettling, type Settlement } from './settle.ts';
import { inWords, whyNone } from './start-error.ts';
import { createTagging, type Tags } from './tags.ts';

/** Milliseconds that a connected device has to get a command of a rollout, when the run settles. */
const ROLLOUT_MILLISECONDS = 6000;
/** Milliseconds that the first webhook of the service may take. */
const REACH_MILLISECONDS = 15_000;

/** The customer of a fleet: an application with a receiver and a file store. It carries out actions and keeps books. */
export interface Customer extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly receiver: {
    /** The address of the receiver for the service; empty before `start`. */
    readonly url: string;
    /** Files that devices have uploaded. */
    readonly files: { readonly count: number; readonly bytes: number };
    /** Plays these faults from now on, each for its share of the webhooks and requests. */
    play(faults: readonly PlayedFault[]): void;
    /** How often each fault was played. */
    played(): Readonly<Record<string, number>>;
    /** Whether the service fails now, so that its attempts follow no schedule. */
    suspend(suspended: boolean): void;
  };
  /** The programs of the customer that take events, besides its receiver. */
  readonly programs: Pick<Programs, 'play' | 'played'>;
  /**
   * Starts the receiver, issues an authenticationKey unless one is given, and sets the URLs of the application.
   * Resolves when the first webhook of the service has arrived. Rejects with an Error that says why none came.
   */
  start(): Promise<void>;
  /** Follows the fleet from now on: the books record the events of its devices. */
  follow(fleet: Pick<Fleet, 'devices' | 'events'>): void;
  /**
   * Activates the devices that are not activated; resolves to the devices that are activated then. All devices are
   * asked first, however long 429 answers delay this. A device that does not answer does not block the run, which goes
   * on when no device has answered for `patience` milliseconds. Rejects with an Error if the service refuses the
   * application.
   */
  activate(deviceIds: readonly string[], phase: string, patience: number): Promise<string[]>;
  /**
   * The identity of a command, which is the same in every run with one seed: the number of the action that requested
   * it. Resolves when the request is answered, because the command may arrive before that answer.
   */
  readonly keyOf: KeyOf;
  /**
   * Carries out one action; resolves when the service has answered, and never rejects. The ledger records the result.
   * `due` is the time at which the action should have begun, and its latency counts from there; by default from now.
   */
  act(action: Action, deviceId: string, phase: string, due?: number): Promise<void>;
  /** Starts a rollout; resolves when the service has answered, and never rejects. The customer follows it from then on. */
  rollOut(plan: RolloutPlan, phase: string): Promise<void>;
  /** The rollouts of the run, after `settle`. */
  rollouts(): readonly RolloutSummary[];
  /**
   * Asks for the status of a device that belongs to another developer now. Resolves to the difference between the
   * answer and the refusal that the service owes; undefined if there is none.
   */
  unavailability(deviceId: string): Promise<readonly Difference[] | undefined>;
  /**
   * Waits until every accepted transaction has its result, at most `milliseconds`. Then asks the service about the
   * transactions without one, and enters the lost ones into the ledger. Compares rollouts with the books, and then
   * cancels those that have not ended, except for paused ones.
   */
  settle(milliseconds: number): Promise<Settlement>;
  /** The service was restored from a backup that was begun at `from`. */
  restored(from: number): void;
  /** Cancels paused rollouts, and removes the packages and files that actions have brought to the service. */
  clean(): Promise<void>;
}

export function createCustomer({
  apiUrl: api,
  application,
  neighbour,
  authenticationKey: given,
  listen = { host: '127.0.0.1', port: 0 },
  publicUrl,
  admin,
  lateAfter,
  seed = 1,
  timers,
  stoodStill,
  serviceStoodStill = () => 0,
  groupOf,
  tagsOf = () => ({}),
  devicesStay = true,
  nodes = [],
  programs: wanted = [],
}: {
  /** The address of the REST API, or those of its nodes: calls spread over them. */
  apiUrl: string | readonly string[];
  application: ApplicationAccess;
  /** A device of another developer; undefined if none is known. */
  neighbour?: string | undefined;
  /** The authenticationKey of the application. Without it a new one is issued, and the former one ends. */
  authenticationKey?: string | undefined;
  /** Where the receiver listens. */
  listen?: { host: string; port: number };
  /** The address at which the service reaches the receiver, if it differs. */
  publicUrl?: string | undefined;
  /** Access to administration, which firmware needs. */
  admin?: { url: string; token: string } | undefined;
  /** Milliseconds after which a result is late. */
  lateAfter?: number;
  seed?: number;
  timers: Timers;
  /** Milliseconds of a span in which the simulator itself stood still: the service is not blamed for them. */
  stoodStill?: (from: number, to: number) => number;
  /** Milliseconds of a span in which the service stood still: no device could get a command in them. */
  serviceStoodStill?: (from: number, to: number) => number;
  /** The group of a device in the scenario. */
  groupOf?: (deviceId: string) => string | undefined;
  /** The tags that a device gets when it is activated. */
  tagsOf?: (deviceId: string) => Tags;
  /** Whether the devices stay activated for the whole run, so that it is certain which devices a rollout must have. */
  devicesStay?: boolean;
  /** The addresses of the nodes for devices. */
  nodes?: readonly string[];
  /** The programs of the customer that take events, besides its receiver. */
  programs?: readonly Program[];
}): Customer {
  const { applicationId, secret } = application;
  const stop = new AbortController();
  const { now } = timers;
  const apiUrls = [api].flat();
  const [apiUrl = ''] = apiUrls;
  const several = apiUrls.length > 1 ? { fetch: createNodeFetch(apiUrls, now) } : {};
  // The client makes one attempt only, because the customer itself counts a failed request and repeats it with the same
  // Idempotency-Key.
  const lapel = createLapelClient({ baseUrl: apiUrl, applicationId, secret, attempts: 1, now, ...several });
  const nodeOf = (deviceId: string): string | undefined => {
    const address = nodes.length > 1 ? device(deviceId)?.address : undefined;
    return address === undefined ? undefined : String(nodes.indexOf(address) + 1);
  };
  const ledger = createLedger({
    began: now(),
    ...(lateAfter !== undefined && { lateAfter }),
    stoodStill,
    groupOf,
    nodeOf,
  });
  const requests = createRequests({
    ledger,
    timers,
    stopped: stop.signal,
    onNoAnswer: () => receiver?.attempts.forget(),
  });
  const pointed = createPointed(apiUrl, application, lapel);
  const releases = createReleases({ lapel, applicationId, admin });
  const probes = createProbes({ lapel, apiUrl, application, neighbour, ledger, seed, timers });
  const replaceKey = (): Promise<void> =>
    keys.replace(async () => {
      let asked = 0;
      const key = await requests.insist(() => {
        asked += 1;
        return pointed.issueKey();
      });
      return { key, isRepeated: asked > 1 };
    });
  const actions = createActionRunner({
    lapel,
    applicationId,
    requests,
    releases,
    ledger,
    now,
    probe: probes.follow,
    replaceKey,
  });
  const { follow, device, devices, onlineSince, onlineFor } = createFollowed({
    ledger,
    timers,
    // A service that stands still sends no command, and a simulator that does gets none.
    stoodStill: (from, to) => Math.min(to - from, (stoodStill?.(from, to) ?? 0) + serviceStoodStill(from, to)),
    onAllGone: () => receiver?.attempts.forget(),
  });
  const spentSince = (from: number): number => now() - from - (stoodStill?.(from, now()) ?? 0);
  const activation = createActivation({
    lapel,
    applicationId,
    requests,
    actions,
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
    onRedeliver: () => receiver?.attempts.rest(),
    gone: () => receiver?.gone() ?? [],
  });
  const rollouts = createRollouts({
    lapel,
    requests,
    releases,
    ledger,
    timers,
    spentSince,
    stopped: stop.signal,
    tagsOf,
    devicesStay,
  });
  const tag = createTagging({ lapel, requests, tagsOf });
  const programs = createPrograms({
    programs: wanted,
    lapel,
    requests,
    ledger,
    timers,
    stopped: stop.signal,
    spentSince,
  });
  const lateDownloads = createLateDownloads({ releases, ledger, timers });
  const audit = createAudit({ lapel, requests, ledger, timers, stopped: stop.signal, devices });
  const keys = createKeys({
    look: ledger.look,
    onUnsigned(body) {
      const { deviceId = '', transactionId } = aboutIn(body);
      const text =
        'an attempt of a webhook lacks the signature of the authenticationKey that was replaced within a day';
      ledger.violated({ deviceId, ...(transactionId !== undefined && { transactionId }) }, text, now());
    },
  });
  if (given !== undefined) keys.use(given);
  let receiver: Receiver | undefined;
  const reached = Promise.withResolvers<void>();

  function receive(received: ReceivedWebhook): void {
    reached.resolve();
    ledger.received(received, now());
    programs.received(received, now());
    const { event, webhookId } = received;
    const { data } = event;
    rollouts.received(event, webhookId);
    if ('transaction' in data) activation.concluded(data.transaction.transactionId, data.transaction.status);
  }

  const keyOf: KeyOf = (deviceId, transactionId) => {
    const known = ledger.actionOf(transactionId);
    if (known || ledger.isAccepted(transactionId)) return known;
    return requests.next(deviceId)?.then(() => keyOf(deviceId, transactionId));
  };

  return {
    ledger,
    receiver: {
      get url() {
        return receiver?.url ?? '';
      },
      get files() {
        return { count: receiver?.store.files ?? 0, bytes: receiver?.store.bytes ?? 0 };
      },
      play: (faults) => receiver?.play(faults),
      played: () => receiver?.played() ?? {},
      suspend: (suspended) => receiver?.attempts.suspend(suspended),
    },
    programs,

    async start() {
      receiver = await startReceiver({
        listen,
        publicUrl,
        authenticationKey: () => keys.current,
        verify: keys.verify,
        seed,
        onReceived: receive,
        onForged: (reason, body) => ledger.forged(reason, body, now()),
        onUntimely: (untimely, body) => ledger.untimely(untimely, body, now()),
        look: ledger.look,
      });
      const { url, urlsUrl } = receiver;
      try {
        if (keys.current === '') keys.use(await requests.insist(() => pointed.issueKey()));
        await requests.insist(() => pointed.point(url, urlsUrl));
        await programs.start(receiver);
        await requests.insist(() => lapel.sendTestEvent({ body: { setting: 'deviceEvent' } }));
      } catch (error) {
        throw inWords(error, { apiUrl, applicationId, url });
      }
      const late = pause(timers, REACH_MILLISECONDS, stop.signal).then(() => 'late' as const);
      if ((await Promise.race([reached.promise, late])) === 'late') {
        throw new UsageError('--webhook-url', `no genuine webhook arrived at ${url}: ${whyNone(ledger)}`);
      }
    },

    follow(fleet) {
      follow(fleet);
      fleet.events.on('command', ({ deviceId }, command) => lateDownloads.keep(deviceId, command));
    },

    async activate(deviceIds, phase, patience) {
      try {
        const activated = await activation.activate(deviceIds, phase, patience);
        await tag(activated);
        rollouts.activated(activated);
        return activated;
      } catch (error) {
        throw inWords(error, { apiUrl, applicationId, url: receiver?.url ?? '' });
      }
    },
    keyOf,
    rollOut: rollouts.start,
    rollouts: rollouts.summaries,
    async act(action, deviceId, phase, due) {
      await actions.perform(action, deviceId, phase, due);
    },
    async unavailability(deviceId) {
      const found = await answerOf(lapel.readStatus({ deviceId }));
      const wrong = found && differences('answer', UNAVAILABLE, found);
      return wrong && wrong.length > 0 ? wrong : undefined;
    },
    async settle(milliseconds) {
      const from = timers.now();
      const left = (): number => milliseconds - spentSince(from);
      await rollouts.over(milliseconds);
      let known = await rollouts.adopt();
      const least = known > 0 ? ROLLOUT_MILLISECONDS : 0;
      let settlement = await settle(Math.max(least, left()));
      // A result can let a rollout go on: a device that has failed may get another command, perhaps before the next look.
      while (left() > 0 && !stop.signal.aborted) {
        const hasWaited = await rollouts.over(left());
        const before = known;
        known = await rollouts.adopt();
        if (!hasWaited && known === before) break;
        settlement = await settle(Math.max(least, left()));
      }
      await programs.settle();
      await rollouts.compare();
      await audit();
      await lateDownloads.ask();
      await probes.atEnd();
      await rollouts.end();
      return settlement;
    },
    restored(from) {
      ledger.restored(from);
      probes.restored();
      rollouts.restored();
      lateDownloads.restored(from);
      programs.restored(from);
      receiver?.attempts.forget();
    },
    async clean() {
      await rollouts.end(true);
      await releases.clean();
    },

    async [Symbol.asyncDispose]() {
      // If the service cannot be reached, the settings of the application stay as this run has set them.
      await programs.end().catch(() => {});
      await pointed.restore().catch(() => {});
      stop.abort();
      await receiver?.[Symbol.asyncDispose]();
    },
  };
}
