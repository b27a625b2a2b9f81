import { createPointed, type Pointed } from '../customer/pointed.ts';
import type { ApplicationAccess } from '../customer/provision.ts';
import { createRandom, deriveSeed } from '../random.ts';
import type { Verdict } from '../report/record.ts';
import { type OwnPace, startOwnPace } from '../scenario/own-pace.ts';
import { reach } from '../scenario/reach.ts';
import { systemTimers } from '../timers.ts';
import { UsageError } from '../usage-error.ts';
import { type Book, createBook } from './book.ts';
import { type Came, startFront } from './front.ts';
import { type Accepted, createAccepted, keptVerdicts } from './kept.ts';
import { KINDS, type Kind, MISDEEDS } from './kinds.ts';
import { type Base, createOrder, webhooksOf } from './misdeeds.ts';
import { createNumbered, type NumberedDevice } from './numbered.ts';
import { bodyOf, signedWebhook } from './outgoing.ts';
import { playBurst, playInTurn } from './play-misdeed.ts';
import { playRestart } from './play-restart.ts';
import { createSamples, NOBODY, type Samples } from './samples.ts';
import { type CustomerAnswer, createSender, type Sender } from './sender.ts';
import type { TrialRecord } from './trial-record.ts';

/** The settings of a test of a customer's receiver. */
export interface TrialSettings {
  /** The URL of the customer's receiver. */
  readonly forward: string;
  readonly seed: number;
  /**
   * The number of genuine webhooks after which the test ends. Without it a test with the service lasts until Ctrl-C.
   */
  readonly once: number | undefined;
  /** Whether the simulator makes the webhooks itself, without a service. */
  readonly isSelf: boolean;
  /** The authenticationKey; needed without `application`. */
  readonly authenticationKey: string | undefined;
  /** The application whose webhooks come here during the test. */
  readonly application: ApplicationAccess | undefined;
  readonly api: string;
  /** Milliseconds to wait until the receiver and the service accept connections. */
  readonly wait: number;
  readonly webhook: { readonly host: string; readonly port: number; readonly publicUrl: string | undefined };
  /** The file or the URL of the list of webhooks that the receiver has kept; undefined: none is read. */
  readonly kept: string | undefined;
  /** Whether the list has the events of a device in order, and the numbers that never came. */
  readonly isOrdered: boolean;
  /** The command that kills the receiver and starts it again; undefined: it is not restarted. */
  readonly restart: string | undefined;
  readonly json: boolean;
  readonly junitFile: string | undefined;
}

interface Outside {
  readonly stopped: AbortSignal;
  /** Writes a line for people. */
  readonly say: (line: string) => void;
}

/**
 * The default number of genuine webhooks in a test without a service; after each of them one other kind is sent, so
 * each kind comes twice.
 */
const SELF_WEBHOOKS = 2 * MISDEEDS.length;
/**
 * After each webhook of the service a webhook of another kind is sent, one after the other. When this many are still to
 * be sent, the next webhook of the service is followed by none.
 */
const MOST_PENDING = 32;
/** Milliseconds between two readings of the authenticationKey at least. */
const KEY_MILLISECONDS = 1000;
const MOST_TOLD = 5;
/** Milliseconds that the command of a restart may take, and the receiver until it accepts connections again. */
const RESTART_MILLISECONDS = 30_000;

/** The state of a running test of a receiver. */
interface Trial {
  readonly settings: TrialSettings;
  readonly outside: Outside;
  readonly sender: Sender;
  readonly samples: Samples;
  readonly book: Book;
  readonly accepted: Accepted;
  /** The ids of the webhooks that had to be refused. */
  readonly refused: Set<string>;
  readonly own: OwnPace;
  readonly numbered: NumberedDevice;
  readonly nextMisdeed: ReturnType<typeof createOrder>;
  readonly random: () => number;
  key: string;
  webhooks: number;
  slowBursts: number;
  unverified: number;
  /** Why the first requests without a valid signature were refused. */
  readonly unverifiedStory: string[];
  /** Why the receiver could not be restarted. */
  restartFault: string | undefined;
}

function enter({ book, own, accepted, refused }: Trial, kind: Kind, webhookId: string, answer: CustomerAnswer): void {
  if (KINDS[kind].answer === 'refused') refused.add(webhookId);
  else if (answer.status !== null && answer.status >= 200 && answer.status < 300) accepted.add(kind, webhookId);
  book.record(kind, webhookId, answer, own.stoodStill(answer.from, answer.to));
}

/** Sends the receiver one kind of webhook that the service does not send on purpose, after a genuine one. */
async function misbehave(trial: Trial, base: Base): Promise<void> {
  const { sender, samples, random, key: authenticationKey, outside, nextMisdeed, numbered } = trial;
  if (outside.stopped.aborted) return;
  const kind = nextMisdeed();
  const webhooks = webhooksOf(kind, base, { authenticationKey, samples, random, numbered, now: Date.now });
  const stage = {
    sender,
    timers: systemTimers,
    stopped: outside.stopped,
    enter: (...entry: [Kind, string, CustomerAnswer]) => enter(trial, ...entry),
  };
  if (kind !== 'burst') return playInTurn(kind, webhooks, stage);
  if (!(await playBurst(webhooks, stage))) trial.slowBursts += 1;
}

/** The test without a service: makes genuine webhooks itself, each followed by one of another kind. */
async function playSelf(trial: Trial): Promise<void> {
  const { settings, samples, sender, outside } = trial;
  for (let count = settings.once ?? SELF_WEBHOOKS; count > 0 && !outside.stopped.aborted; count -= 1) {
    const now = Date.now();
    const webhook = signedWebhook(trial.key, samples.webhookId(), now, bodyOf(samples.any(NOBODY, now)));
    trial.webhooks += 1;
    enter(trial, 'genuine', webhook.id, await sender.send(webhook));
    await misbehave(trial, webhook);
  }
}

/**
 * Returns a function that gives the present authenticationKey. It reads the key from the service again when the first
 * signature of a webhook is that of another key, because somebody may have issued a new one.
 */
function keyReader(trial: Trial, pointed: Pointed | null): (isStale: boolean) => Promise<string> {
  let readAt = Number.NEGATIVE_INFINITY;
  return async (isStale) => {
    if (isStale && pointed && performance.now() - readAt > KEY_MILLISECONDS) {
      readAt = performance.now();
      trial.key = await pointed.readKey().catch(() => trial.key);
    }
    return trial.key;
  };
}

/**
 * The test with a service: passes its webhooks on to the receiver, until `once` webhooks were sent or Ctrl-C is
 * pressed.
 */
async function playWithService(trial: Trial, pointed: Pointed | null): Promise<void> {
  const { settings, sender, outside } = trial;
  const enough = Promise.withResolvers<void>();
  const isEnough = (): boolean => settings.once !== undefined && trial.webhooks >= settings.once;
  outside.stopped.addEventListener('abort', () => enough.resolve());
  let pending = 0;
  let misdeeds = Promise.resolve();

  async function pass(webhook: Came): Promise<CustomerAnswer> {
    const answer = await sender.send(webhook, webhook.path);
    if (isEnough()) return answer;
    trial.webhooks += 1;
    enter(trial, 'genuine', webhook.id, answer);
    if (pending < MOST_PENDING) {
      pending += 1;
      misdeeds = misdeeds.then(async () => {
        await misbehave(trial, webhook);
        pending -= 1;
      });
      misdeeds.catch(enough.reject);
    }
    if (isEnough()) enough.resolve();
    return answer;
  }

  await using front = await startFront({
    listen: settings.webhook,
    publicUrl: settings.webhook.publicUrl,
    readKey: keyReader(trial, pointed),
    pass,
    onUnverified(reason) {
      trial.unverified += 1;
      if (trial.unverifiedStory.length < MOST_TOLD) trial.unverifiedStory.push(reason);
    },
  });
  outside.say(`listening at ${front.url}`);
  try {
    await pointed?.point(front.url);
    if (outside.stopped.aborted) enough.resolve();
    await enough.promise;
    await misdeeds;
  } finally {
    await pointed?.restore();
  }
}

/** Restarts the receiver while genuine webhooks come. Resolves to the reason why it failed; undefined: it did not. */
function restart(trial: Trial, command: string): Promise<string | undefined> {
  const { settings, outside, sender, accepted, samples } = trial;
  return playRestart(command, {
    make() {
      const now = Date.now();
      return signedWebhook(trial.key, samples.webhookId(), now, bodyOf(samples.any(NOBODY, now)));
    },
    send: sender.send,
    taken: (id) => accepted.add('genuine', id, 'answered while the receiver was killed'),
    again: (id, answer) => enter(trial, 'genuine', id, answer),
    isBack: () =>
      reach([settings.forward], {
        patience: Math.max(settings.wait, RESTART_MILLISECONDS),
        timers: systemTimers,
        stopped: outside.stopped,
        name: 'the receiver',
      }),
    stopped: outside.stopped,
    withinMs: RESTART_MILLISECONDS,
  });
}

function signedVerdict({ unverified, unverifiedStory, webhooks }: Trial): Verdict {
  return {
    text: 'service: each webhook has a valid signature',
    phase: null,
    holds: unverified === 0,
    measurable: true,
    value: unverified,
    shown: `${webhooks} with, ${unverified} without`,
    story: unverifiedStory,
  };
}

/** The verdict about the list of the receiver, if the command line names one. Throws a UsageError if it cannot be read. */
async function judgeKept({ settings, accepted, refused, numbered, outside }: Trial): Promise<Verdict[]> {
  if (settings.kept === undefined) return [];
  const waiting = { timers: systemTimers, stopped: outside.stopped, patience: settings.wait };
  try {
    const device = settings.isOrdered ? numbered : null;
    return await keptVerdicts(settings.kept, { accepted: accepted.all(), refused, device }, waiting);
  } catch (error) {
    throw new UsageError('--kept', `cannot be read: ${(error as Error).message}`);
  }
}

function whyNotRun(trial: Trial, verdicts: readonly Verdict[]): string[] {
  if (trial.webhooks === 0) return ['no webhook came'];
  const missing = trial.book.kinds().filter(({ sent }) => sent === 0);
  const names = missing.map(({ kind }) => kind).join(', ');
  return [
    ...(missing.length > 0
      ? [`never sent: ${names}. One kind follows each webhook, so at least ${MISDEEDS.length} webhooks must come`]
      : []),
    ...(trial.restartFault === undefined ? [] : [trial.restartFault]),
    ...(trial.slowBursts > 0 ? ['burst: the simulator was too slow to send 100 webhooks a second'] : []),
    ...verdicts.filter(({ measurable }) => !measurable).map(({ text }) => `${text}: the simulator itself stood still`),
  ];
}

function recordOf(trial: Trial, startedAt: Date, kept: readonly Verdict[]): TrialRecord {
  const { settings, webhooks, unverified, book } = trial;
  const verdicts = [...(settings.isSelf ? [] : [signedVerdict(trial)]), ...book.verdicts(), ...kept];
  return {
    forward: settings.forward,
    seed: settings.seed,
    startedAt: startedAt.toISOString(),
    milliseconds: Date.now() - startedAt.getTime(),
    webhooks,
    unverified,
    kinds: book.kinds(),
    verdicts,
    notRun: whyNotRun(trial, verdicts),
  };
}

/**
 * Tests a customer's own receiver: sends it the webhooks of the service (or own ones), and after each of them one kind
 * of misdeed. Rejects with Unreachable when the receiver or the service accepts no connection.
 */
export async function runTrial(settings: TrialSettings, outside: Outside): Promise<TrialRecord> {
  const { forward, application, api, seed } = settings;
  const patience = { patience: settings.wait, timers: systemTimers, stopped: outside.stopped };
  await reach([forward], { ...patience, name: 'the receiver' });
  if (application) await reach([api], patience);
  const pointed = application ? createPointed(api, application) : null;
  const key = settings.authenticationKey ?? (await pointed?.readKey()) ?? '';
  const startedAt = new Date();
  const random = createRandom(deriveSeed(seed, 2));
  using sender = createSender(forward);
  const own = startOwnPace(systemTimers);
  const trial: Trial = {
    settings,
    outside,
    sender,
    samples: createSamples(random, startedAt.getTime()),
    book: createBook(),
    accepted: createAccepted(),
    refused: new Set(),
    own,
    numbered: createNumbered(startedAt.getTime()),
    nextMisdeed: createOrder(MISDEEDS, createRandom(deriveSeed(seed, 1))),
    random,
    key,
    webhooks: 0,
    slowBursts: 0,
    unverified: 0,
    unverifiedStory: [],
    restartFault: undefined,
  };
  try {
    await (settings.isSelf ? playSelf(trial) : playWithService(trial, pointed));
    if (settings.restart !== undefined) trial.restartFault = await restart(trial, settings.restart);
  } finally {
    own.stop();
  }
  return recordOf(trial, startedAt, await judgeKept(trial));
}
