import type { LookupFunction } from 'node:net';
import { isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { ReceiverShare } from '../../platform/cluster/partitions.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import { createIdle } from '../../runtime/idle.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { createPlaces, type Place, QUICK } from './attempt-slots.ts';
import type { ReceiverName, WebhookEvent, WebhookSetting } from './delivery.ts';
import * as repository from './delivery-repository.ts';
import { createEndpointEvents } from './endpoint-events.ts';
import { createFailures, type Failure } from './failures.ts';
import { createKeptAnswers } from './kept-answers.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import { failed, holds, late, letGo, type Receiver, roomIn, succeeded, wantsMore } from './receiver.ts';
import { createReceiverLog } from './receiver-log.ts';
import { createReceivers } from './receivers.ts';
import { type Answer, judge } from './retry-schedule.ts';
import { createSender } from './sender.ts';
import { createSigner } from './signature.ts';

type Delivery = repository.Delivery;

/** Microseconds between two looks at what came due, however closely the due times lie. */
const WAKE_GAP = 50_000;
/** Microseconds before a failed read is tried again. */
const READ_PAUSE = 1_000_000;

interface Options {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  /** Where the receiver is and the keys that sign, asked at every attempt. */
  endpointOf(applicationId: string, setting: WebhookSetting): Promise<Endpoint>;
  /** Whom events about a failing receiver may go to. Throws APPLICATION_UNREGISTERED. */
  findApplication: Parameters<typeof createEndpointEvents>[0]['findApplication'];
  /** Which receivers are this node's. */
  share: ReceiverShare;
  /** LAPEL_WEBHOOK_ALLOW_PRIVATE */
  allowPrivate: boolean;
  /** Milliseconds from the start of an attempt to its answer. */
  timeoutMs?: number;
  /** Milliseconds that attempts under way get to end when the service stops. */
  drainMs?: number;
  /** How names become addresses; the system's way by default. */
  lookup?: LookupFunction;
}

interface Endpoint {
  url: string | null;
  /** None: not issued. */
  keys: readonly string[];
}

interface Written extends repository.Outcome {
  receiver: Receiver;
  failure: Failure | undefined;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

const OPEN_TYPE = /^(call|custom)\./;

const unanswered = (error: string): Answer => ({ statusCode: null, retryAfter: null, error });

/**
 * The sender of webhooks. A delivery is a row that is written with what it tells of; the commit hands it to its
 * receiver's queue, from which attempts are made within the receiver's window and the slots of all. Each outcome is
 * written down: delivered, gone, exhausted, or pending until a later time. When a queue is full the rest stays in the
 * database and is read in pages, the longest due first; one timer waits for the next due time of all. Nothing polls.
 * Where there are other nodes each receiver is one node's, so that its window and its order hold over all of them: what is
 * recorded for another node's is told to that one.
 */
export function createWebhooks(options: Options) {
  const { database, clock, ids, log, metrics, endpointOf, findApplication, share, allowPrivate } = options;
  const { timeoutMs = 15_000, drainMs = 3_000 } = options;
  const sender = createSender({ clock, allowPrivate, timeoutMs, ...(options.lookup && { lookup: options.lookup }) });
  const failures = createFailures({ database, endpoints: createEndpointEvents({ clock, findApplication, record }) });
  const keepAnswer = createKeptAnswers({ clock, metrics });
  const writer = createOutcomeWriter<Written>({ database, clock, log, also: failures.write, written, rested: tell });
  const places = createPlaces<Receiver>({
    clock,
    resume: pump,
    late,
    onCut: () => metrics.deliveryAttemptsCut.inc(),
  });
  const signedHeaders = createSigner();
  const tellOf = createReceiverLog({ clock, log });
  const receivers = createReceivers(share);
  let running = false;
  let aborted = false;
  let attempts = 0;
  let reads = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  let lastWake = Number.NEGATIVE_INFINITY;
  let cancelWake = (): void => undefined;
  let stopped = false;
  const drained = createIdle(() => attempts > 0 || reads > 0);
  const handedOver = createIdle(receivers.letsGo);
  const idle = createIdle(() => !stopped && (attempts > 0 || reads > 0 || writer.busy() || places.waits()));

  function hold(receiver: Receiver, delivery: Delivery): void {
    receiver.held.set(delivery.deliveryId, delivery.round);
    receiver.queue.push(delivery);
  }

  /** A new delivery was committed. While older ones wait in the database it queues up behind them there. */
  function accept(name: ReceiverName, delivery: Delivery): void {
    if (!running) return; // the row stays; start() finds it
    if (receivers.isElsewhere(name)) {
      share.tell(name);
      return;
    }
    const receiver = receivers.of(name);
    if (receiver.more || roomIn(receiver) <= 0) receiver.more = true;
    else hold(receiver, delivery);
    if (receiver.inFlight >= receiver.window) metrics.deliveriesHeld.inc();
    pump(receiver);
  }

  /** Starts what the receiver's window and the places allow, and reads more when the queue runs low. */
  function pump(receiver: Receiver): void {
    if (!running || !receivers.mine(receiver)) return;
    while (receiver.queue.length > 0 && receiver.inFlight < receiver.window && places.free(receiver.kind)) {
      const delivery = receiver.queue.shift();
      // One that was asked for again since it was queued comes in its new round.
      if (delivery && receiver.held.get(delivery.deliveryId) === delivery.round)
        void attempt(receiver, delivery, places.take(receiver.kind, receiver));
    }
    const wants = wantsMore(receiver);
    const full = !places.free(receiver.kind) && receiver.inFlight < receiver.window;
    if (full && (wants || receiver.queue.length > 0)) {
      places.wait(receiver.kind, receiver); // reads too: what cannot be sent now need not be in memory
    } else if (wants) void read(receiver);
  }

  async function read(receiver: Receiver): Promise<void> {
    receiver.reading = true;
    receiver.more = false; // what is committed from here on is handed over, or says `more` again
    reads += 1;
    const now = clock.now();
    // Also what is settled while this reads: the page may still show it as pending.
    const skip = { held: new Map(receiver.held) };
    const limit = roomIn(receiver) + skip.held.size;
    try {
      const page = await repository.findDue(database.read, receiver, now, limit);
      for (const delivery of receivers.mine(receiver) ? page : []) {
        if (holds(skip, delivery) || holds(receiver, delivery)) continue;
        if (roomIn(receiver) > 0) hold(receiver, delivery);
        else receiver.more = true;
      }
      if (page.length === limit) receiver.more = true;
      const next = await repository.findNextDue(database.read, receiver, now);
      if (next !== undefined) schedule(receiver, next);
    } catch (cause) {
      if (!isDatabaseAway(cause))
        log.error({ err: cause, setting: receiver.setting }, 'webhooks that are due could not be read');
      schedule(receiver, now + READ_PAUSE);
    }
    receiver.reading = false;
    reads -= 1;
    pump(receiver);
    receivers.forget(receiver);
    tell();
  }

  async function attempt(receiver: Receiver, delivery: Delivery, place: Place<Receiver>): Promise<void> {
    receiver.inFlight += 1;
    attempts += 1;
    let url: string | null = null;
    let answer: Answer | undefined;
    try {
      const endpoint = await endpointOf(receiver.applicationId, receiver.setting);
      url = endpoint.url;
      answer = aborted ? undefined : await post(place, delivery, endpoint);
    } catch (cause) {
      // Without the database nobody knows where to; that is no failure of the receiver's.
      if (isDatabaseAway(cause)) schedule(receiver, clock.now() + READ_PAUSE);
      else {
        log.error({ err: cause, deliveryId: delivery.deliveryId }, 'a webhook could not be made ready');
        answer = unanswered('the notification could not be made ready');
      }
    }
    place.cut = undefined;
    places.release(place);
    if (answer) conclude(receiver, delivery, url, answer, place.startedAt);
    else letGo(receiver, delivery); // its outcome is unknown: it stays pending
    receiver.inFlight -= 1;
    attempts -= 1;
    pump(receiver);
    tell();
  }

  async function post(
    place: Place<Receiver>,
    { deliveryId, body }: Delivery,
    { url, keys }: Endpoint,
  ): Promise<Answer | undefined> {
    if (url === null) return unanswered(`${place.receiver.setting} is not set`);
    if (keys.length === 0) return unanswered('authenticationKey is not issued');
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'lapel',
      ...signedHeaders(deliveryId, clock.now(), body, keys),
    };
    const cuttable = (cut: (why: string) => void): void => {
      place.cut = cut;
    };
    return sender.post({ url, headers, body, cuttable });
  }

  function conclude(
    receiver: Receiver,
    delivery: Delivery,
    url: string | null,
    answer: Answer,
    startedAt: number,
  ): void {
    const at = clock.now();
    const { deliveryId, round } = delivery;
    const random = (): number => ids.bytes(4).readUInt32LE() / 2 ** 32;
    const made = delivery.attempts + 1;
    const verdict = judge(answer, made, at, random);
    const { applicationId } = receiver;
    const { statusCode } = answer;
    const ok = verdict.status === 'delivered';
    const error = ok ? null : (answer.error ?? `answered ${statusCode}`);
    tellOf(receiver, { deliveryId, status: verdict.status, attempts: made, error });
    if (ok) succeeded(receiver, at - startedAt <= QUICK && !places.isLate(receiver), receiver.inFlight);
    else failed(receiver);
    const failure =
      error === null ? undefined : { error, duration: at - startedAt, answer: keepAnswer(receiver, answer.beginning) };
    const outcome = { receiver, applicationId, deliveryId, round, ...verdict, attempts: made, url, statusCode, error };
    writer.add({ ...outcome, at, failure });
    metrics.deliverySeconds.observe((at - startedAt) / 1_000_000);
    metrics.deliveryAttempts.inc({ outcome: verdict.status === 'pending' ? 'retry' : verdict.status });
  }

  function written(outcome: Written, counts: boolean): void {
    const { receiver, nextAttemptAt } = outcome;
    letGo(receiver, outcome);
    if (!counts) receiver.more = true;
    else if (nextAttemptAt !== null) schedule(receiver, nextAttemptAt);
    pump(receiver);
    receivers.forget(receiver);
  }

  /** Sees to it that the receiver's rows are read when they come due. */
  function schedule(receiver: Receiver, at: number): void {
    if (at <= clock.now()) receiver.more = true;
    else {
      receiver.nextDueAt = Math.min(receiver.nextDueAt, at);
      armWake(at);
    }
  }

  function armWake(at: number): void {
    const when = Math.max(at, lastWake + WAKE_GAP);
    if (!running || when >= wakeAt) return;
    cancelWake();
    wakeAt = when;
    cancelWake = clock.after(Math.max(0, Math.ceil((when - clock.now()) / 1000)), wake);
  }

  function wake(): void {
    const now = clock.now();
    wakeAt = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const receiver of receivers.all()) {
      if (receiver.nextDueAt <= now) {
        lastWake = now;
        receiver.nextDueAt = Number.POSITIVE_INFINITY;
        receiver.more = true;
        pump(receiver);
      } else next = Math.min(next, receiver.nextDueAt);
    }
    if (next !== Number.POSITIVE_INFINITY) armWake(next);
  }

  function tell(): void {
    drained.tell();
    idle.tell();
    handedOver.tell();
  }

  /** Takes up what is pending: one look per receiver, its rows are read as they can be sent. */
  async function takeUp(): Promise<void> {
    if (!running) return;
    await failures.load();
    if (database.remote) return (await repository.findReceivers(database.prompt)).forEach(takeUpOne);
    let found = await repository.findNextReceiver(database.read, { applicationId: '', setting: '' });
    while (found) {
      takeUpOne(found);
      found = await repository.findNextReceiver(database.read, found);
    }
  }

  function takeUpOne(found: ReceiverName & { nextAttemptAt: number }): void {
    if (receivers.isElsewhere(found)) return;
    const receiver = receivers.of(found);
    schedule(receiver, found.nextAttemptAt);
    pump(receiver);
  }

  /**
   * Writes the delivery of an event in the caller's unit of work; it is sent after the commit. `written`: the statement is
   * through. The body is `{ type, timestamp, data }`, where `data` always carries applicationId and deviceId.
   */
  function begin(unit: UnitOfWork, event: WebhookEvent): { deliveryId: string; written: Promise<void> } {
    const { applicationId, deviceId, setting, type } = event;
    const createdAt = clock.now();
    const timestamp = toUtc(event.occurredAt);
    const deliveryId = ids.next('msg', createdAt);
    const body = JSON.stringify({ type, timestamp, data: { ...event.data, applicationId, deviceId } });
    const delivery = { deliveryId, body, attempts: 0, round: 0 };
    const transactionId = event.transactionId ?? null;
    const row = { ...delivery, applicationId, setting, deviceId, transactionId, type, createdAt };
    const written = repository.insertDelivery(unit, row);
    unit.onCommit(() => {
      // Devices make up the rest of `call.*` and `custom.*`: as a label it would have no bound.
      metrics.deliveriesCreated.inc({ type: OPEN_TYPE.exec(type)?.[1] ?? type });
      accept({ applicationId, setting }, delivery);
    });
    return { deliveryId, written };
  }

  /** The same for who has nothing else to write meanwhile; answers the deliveryId. */
  async function record(unit: UnitOfWork, event: WebhookEvent): Promise<string> {
    const { deliveryId, written } = begin(unit, event);
    await written;
    return deliveryId;
  }

  return {
    begin,

    record,

    /** Rows of a receiver came due that were not recorded just now. Called after their commit; or another node says so. */
    due(name: ReceiverName, told: 'here' | 'by another' | 'passed on' = 'here'): void {
      if (receivers.isElsewhere(name)) {
        if (told !== 'passed on') share.tell(name, told === 'by another');
        return;
      }
      const receiver = receivers.of(name);
      receiver.more = true;
      pump(receiver);
    },

    async start(): Promise<void> {
      running = true;
      await takeUp();
    },

    /** Receivers are this node's now, or something may be due that nobody told of. */
    takeUp,

    /** Receivers are not this node's any more: what is queued for them is left to who has them now, or soon. */
    letGo: receivers.letGo,

    /** The same; resolves when what is under way for them is written down. */
    async drain(): Promise<void> {
      receivers.letGo();
      await handedOver.idle();
      for (const receiver of receivers.all()) receivers.forget(receiver);
    },

    /** Resolves when nothing is under way and nothing is due. */
    idle: idle.idle,

    /** Begins nothing more and lets what is under way end within the bound; what does not stays pending. */
    async [Symbol.asyncDispose](): Promise<void> {
      running = false;
      cancelWake();
      const cancel = clock.after(drainMs, () => {
        aborted = true;
        sender.abortAll();
      });
      await drained.idle();
      cancel();
      await writer.close();
      await sender[Symbol.asyncDispose]();
      stopped = true;
      idle.tell();
    },
  };
}
