import type { LookupFunction } from 'node:net';
import { isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { ReceiverShare } from '../../platform/cluster/partitions.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createIdle } from '../../runtime/idle.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { createPlaces, type Place } from './attempt-slots.ts';
import { type AttemptParts, type Concluded, createAttempts } from './attempts.ts';
import type { ReceiverName } from './delivery.ts';
import * as repository from './delivery-repository.ts';
import { createDueTimer } from './due-timer.ts';
import { createEndpointEvents } from './endpoint-events.ts';
import { createFailures } from './failures.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import { holds, late, letGo, type Receiver, roomIn, wantsMore } from './receiver.ts';
import { createReceivers } from './receivers.ts';
import { createRecording } from './recording.ts';
import { createSender } from './sender.ts';

type Delivery = repository.Delivery;

/** Microseconds before a failed read is tried again. */
const READ_PAUSE = 1_000_000;

interface Options {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  /** Where the receiver is and the keys that sign, asked at every attempt. */
  endpointOf: AttemptParts['endpointOf'];
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

export type Webhooks = ReturnType<typeof createWebhooks>;

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
  const recording = createRecording({ clock, ids, metrics, accept });
  const endpoints = createEndpointEvents({ clock, findApplication, record: recording.record });
  const failures = createFailures({ database, endpoints });
  const writer = createOutcomeWriter<Concluded>({ database, clock, log, also: failures.write, written, rested: tell });
  const places = createPlaces<Receiver>({
    clock,
    resume: pump,
    late,
    onCut: () => metrics.deliveryAttemptsCut.inc(),
  });
  const receivers = createReceivers(share);
  const timer = createDueTimer({ clock, receivers: receivers.all, due: pump });
  const attempts = createAttempts({
    clock,
    ids,
    log,
    metrics,
    endpointOf,
    sender,
    maySend: () => !aborted,
    isLate: places.isLate,
  });
  let running = false;
  let aborted = false;
  let underWay = 0;
  let reads = 0;
  let stopped = false;
  const drained = createIdle(() => underWay > 0 || reads > 0);
  const handedOver = createIdle(receivers.letsGo);
  const idle = createIdle(() => !stopped && (underWay > 0 || reads > 0 || writer.busy() || places.waits()));

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
      if (next !== undefined) timer.schedule(receiver, next);
    } catch (cause) {
      if (!isDatabaseAway(cause))
        log.error({ err: cause, setting: receiver.setting }, 'webhooks that are due could not be read');
      timer.schedule(receiver, now + READ_PAUSE);
    }
    receiver.reading = false;
    reads -= 1;
    pump(receiver);
    receivers.forget(receiver);
    tell();
  }

  async function attempt(receiver: Receiver, delivery: Delivery, place: Place<Receiver>): Promise<void> {
    receiver.inFlight += 1;
    underWay += 1;
    const made = await attempts.make(place, delivery);
    place.cut = undefined;
    places.release(place);
    if (made?.answer) writer.add(attempts.conclude(place, delivery, made.url, made.answer));
    else letGo(receiver, delivery); // its outcome is unknown: it stays pending
    if (made === null) timer.schedule(receiver, clock.now() + READ_PAUSE);
    receiver.inFlight -= 1;
    underWay -= 1;
    pump(receiver);
    tell();
  }

  function written(outcome: Concluded, counts: boolean): void {
    const { receiver, nextAttemptAt } = outcome;
    letGo(receiver, outcome);
    if (!counts) receiver.more = true;
    else if (nextAttemptAt !== null) timer.schedule(receiver, nextAttemptAt);
    pump(receiver);
    receivers.forget(receiver);
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
    timer.schedule(receiver, found.nextAttemptAt);
    pump(receiver);
  }

  return {
    /** See createRecording. */
    ...recording,

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
      timer.start();
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
      timer.stop();
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
