import type { LookupFunction } from 'node:net';
import type { Metrics } from '../../metrics.ts';
import type { ReceiverShare } from '../../platform/cluster/partitions.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import { createIdle } from '../../runtime/idle.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { NO_TRACING, type Tracing } from '../../runtime/tracing.ts';
import { type AttemptSlot, createAttemptSlots } from './attempt-slots.ts';
import { type AttemptParts, type Concluded, createAttempts } from './attempts.ts';
import {
  type Delivery,
  type EndpointId,
  isEndpoint,
  type ReceiverName,
  type UrlSetting,
  type WebhookEvent,
} from './delivery.ts';
import { createDueDeliveries, type DeliveryRows } from './due-deliveries.ts';
import { createDueTimer } from './due-timer.ts';
import { createEndpointEvents } from './endpoint-events.ts';
import { createFailures } from './failures.ts';
import type { KeptConnections } from './http/kept-connections.ts';
import { createSender } from './http/sender.ts';
import { createIntake, READ_PAUSE_MICROS } from './intake.ts';
import { createReceiverHours } from './log/receiver-hours.ts';
import { createNotices } from './notices.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import { createOverlooked } from './overlooked.ts';
import {
  began,
  dropQueue,
  ended,
  hold,
  inWindow,
  isHeldByLate,
  late,
  type Receiver,
  roomIn,
  unhold,
  wantsMore,
} from './receiver.ts';
import { createReceivers } from './receivers.ts';
import { createRecording } from './recording.ts';
import { createWrongTimes } from './wrong-times.ts';

/** Milliseconds that receivers have to leave for another node: an attempt's 15 s, and the time to store its outcome. */
const HAND_OVER_MS = 20_000;

/** The outcome of an attempt for an endpoint, or for the URL of a setting. */
type ConcludedFor<Name> = Concluded & { setting: Name };

const isForEndpoint = (outcome: Concluded): outcome is ConcludedFor<EndpointId> => isEndpoint(outcome.setting);

/** The endpoints of applications, which are receivers beside the URLs of settings. */
export interface EndpointReceivers {
  rows: DeliveryRows<EndpointId>;
  /** Stores how endpoints answer, before the outcomes of their attempts are stored. */
  concluded(unit: UnitOfWork, batch: readonly ConcludedFor<EndpointId>[]): Promise<void>;
  /** Lets the events go on that waited for those of the batch, behind their outcomes. */
  release(unit: UnitOfWork, batch: readonly ConcludedFor<EndpointId>[]): Promise<void>;
  /** Finds the endpoints of this node. */
  takeUp(): Promise<void>;
  /** Called when something has changed about an endpoint of this node. */
  heard(endpoint: { applicationId: string; endpointId: EndpointId }): void;
}

interface Options {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  tracing?: Tracing;
  /** Tells the latest time that is known, and whether this clock may be behind. */
  trust: Pick<ClockTrust, 'latest' | 'isBehind' | 'isSettled'>;
  /** Returns the URL of a receiver and the keys that sign; called at every attempt. */
  endpointOf: AttemptParts['endpointOf'];
  endpoints: EndpointReceivers;
  /** Finds the application that is notified of a failing receiver. Throws APPLICATION_UNREGISTERED. */
  findApplication: Parameters<typeof createNotices>[0]['findApplication'];
  /** Tells which receivers belong to this node. */
  share: ReceiverShare;
  /** The setting LAPEL_WEBHOOK_ALLOW_PRIVATE: whether webhooks may go to private addresses. */
  allowPrivate: boolean;
  /** The setting LAPEL_WEBHOOK_DIRECT: whether messages go the direct way; otherwise Node's own client sends them. */
  direct: boolean;
  /** Called after the commit of an event. */
  appended(event: Pick<WebhookEvent, 'applicationId' | 'deviceId' | 'type'>): void;
  /** Bounds the idle connections to receivers. */
  kept: KeptConnections;
  /** The setting LAPEL_WEBHOOKS_HELD: whether deliveries are only stored. */
  held?: boolean;
  /** Milliseconds from the start of an attempt to its answer. */
  timeoutMs?: number;
  /** Milliseconds that attempts in progress have to end when the service stops. */
  drainMs?: number;
  /** Resolves names to addresses; the system's resolver by default. */
  lookup?: LookupFunction;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/**
 * Sends webhooks. A delivery is a row that is stored together with its event. The commit puts it into the queue of its
 * receiver, from which attempts are made within the receiver's window and the slots of all receivers. Each outcome is stored:
 * delivered, gone, exhausted, or pending until a later time. When a queue is full, further deliveries stay in the database
 * and are read in pages, the earliest due first; one timer waits for the next due time of all. Nothing polls.
 * With several nodes, each receiver belongs to one of them, so that its window and its order hold over all nodes; a node that
 * records a delivery for another's receiver tells that node.
 */
export function createWebhooks(options: Options) {
  const { database, clock, ids, log, metrics, endpointOf, findApplication, share } = options;
  const { timeoutMs = 15_000, drainMs = 3_000 } = options;
  const sender = createSender({ ...options, timeoutMs });
  const rows = createDueDeliveries(options.endpoints.rows);
  const wrongTimes = createWrongTimes({ database, clock, log, trust: options.trust, rows, due: takeUp });
  const recording = createRecording({ clock, ids, metrics, accept, appended: options.appended });
  const notices = createNotices({ clock, findApplication, record: recording.record });
  const failures = createFailures({
    database,
    endpoints: createEndpointEvents({ clock, notices }),
  });
  const hours = createReceiverHours(options);
  const writer = createOutcomeWriter<Concluded>({
    database,
    clock,
    log,
    also,
    saveOutcome: rows.saveOutcome,
    behind(unit, batch) {
      const ofEndpoints = batch.filter(isForEndpoint);
      return ofEndpoints.length === 0 ? undefined : options.endpoints.release(unit, ofEndpoints);
    },
    written,
    rested: checkIdle,
  });
  const slots = createAttemptSlots<Receiver>({
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
    tracing: options.tracing ?? NO_TRACING,
    endpointOf,
    sender,
    maySend: () => !aborted,
    lateOf: slots.lateOf,
  });
  const intake = createIntake({ database, clock, log, rows, receivers, timer, pump, rested: checkIdle });
  const slowLook = createOverlooked({
    ...options,
    rows,
    searched: intake.searched,
    known: receivers.known,
    sends: (name) => running && !receivers.isElsewhere(name),
    due,
  });
  let running = false;
  let aborted = false;
  let underWay = 0;
  let stopped = false;
  const drained = createIdle(() => underWay > 0 || intake.isReading());
  const handedOver = createIdle(receivers.isHandingOver);
  const idle = createIdle(() => !stopped && (underWay > 0 || intake.isReading() || writer.busy() || slots.waits()));

  /**
   * Takes a new delivery after its commit. If older ones wait in the database, or the queue is full, the delivery waits
   * there behind them.
   */
  function accept(name: ReceiverName, delivery: Delivery): void {
    if (!running) return; // the delivery's row remains, and start() finds it
    if (receivers.isElsewhere(name)) {
      share.tell(name);
      return;
    }
    const receiver = receivers.of(name);
    if (receiver.more || roomIn(receiver) <= 0) receiver.more = true;
    else hold(receiver, delivery);
    if (!hasRoom(receiver)) metrics.deliveriesHeld.inc();
    pump(receiver);
  }

  const hasRoom = (receiver: Receiver): boolean => inWindow(receiver, slots.lateOf(receiver)) < receiver.window;

  /** Starts as many attempts as the receiver's window and the slots allow, and reads more when the queue runs low. */
  function pump(receiver: Receiver): void {
    if (!running || !receivers.mine(receiver)) return;
    while (receiver.queue.length > 0 && hasRoom(receiver) && slots.mayTake(receiver)) {
      const delivery = receiver.queue.shift();
      // If the delivery was asked to be sent again after it was queued, this entry of the queue is outdated and
      // skipped. The delivery is read from the database again.
      if (delivery && receiver.held.get(delivery.deliveryId) === delivery.round)
        void attempt(receiver, delivery, slots.take(receiver));
    }
    const wants = wantsMore(receiver);
    const isHeld = receiver.queue.length > 0 && !hasRoom(receiver);
    if (isHeld && isHeldByLate(receiver, slots.lateOf(receiver))) slots.cutOldest(receiver);
    const full = !slots.mayTake(receiver) && hasRoom(receiver);
    if (full && (wants || receiver.queue.length > 0)) {
      slots.wait(receiver); // reading waits too, so memory has only deliveries that are sent soon
    } else if (wants) void intake.read(receiver);
  }

  async function attempt(receiver: Receiver, delivery: Delivery, slot: AttemptSlot<Receiver>): Promise<void> {
    began(receiver);
    underWay += 1;
    const result = await attempts.make(slot, delivery);
    slot.cut = undefined;
    slots.release(slot);
    const made = result === 'leaving' ? undefined : result;
    if (result === 'leaving') leave(receiver);
    const concluded = made?.answer && attempts.conclude(slot, delivery, made, made.answer);
    if (concluded) {
      hours.count(receiver, concluded.status === 'delivered');
      writer.add(concluded);
    } else unhold(receiver, delivery); // the outcome is unknown, so the delivery stays pending and is sent again
    if (made === null) timer.schedule(receiver, clock.now() + READ_PAUSE_MICROS);
    ended(receiver);
    underWay -= 1;
    pump(receiver);
    checkIdle();
  }

  /** Forgets the deliveries of an application that is being removed; their rows are removed, and not sent. */
  function leave(receiver: Receiver): void {
    dropQueue(receiver);
    receiver.more = false;
  }

  function written(outcome: Concluded, counts: boolean): void {
    const { receiver, nextAttemptAt } = outcome;
    unhold(receiver, outcome);
    if (!counts) receiver.more = true;
    else if (nextAttemptAt !== null) timer.schedule(receiver, nextAttemptAt);
    pump(receiver);
    receivers.forget(receiver);
  }

  /** Stores what the outcomes of a batch say of their receivers. */
  function also(unit: UnitOfWork, batch: readonly Concluded[]): Promise<void>[] | undefined {
    const ofEndpoints = batch.filter(isForEndpoint);
    if (ofEndpoints.length === 0) return failures.write(unit, batch as readonly ConcludedFor<UrlSetting>[]);
    const others = batch.filter((one): one is ConcludedFor<UrlSetting> => !isForEndpoint(one));
    return [...(failures.write(unit, others) ?? []), options.endpoints.concluded(unit, ofEndpoints)];
  }

  /** Forgets deliveries whose outcome could not be stored before their receivers go to another node. */
  function giveUp(leaving: readonly Receiver[]): void {
    let deliveries = 0;
    for (const { held, partition } of leaving) {
      if (share.mine(partition)) continue; // it has come back meanwhile
      deliveries += held.size;
      held.clear();
    }
    if (deliveries === 0) return;
    metrics.deliveriesGivenUp.inc(deliveries);
    log.warn(
      { deliveries },
      'outcomes of webhooks could not be stored; the next node of their receivers sends them again',
    );
  }

  function checkIdle(): void {
    drained.tell();
    idle.tell();
    handedOver.tell();
  }

  /** Finds the receivers of this node with pending deliveries. */
  async function takeUp(): Promise<void> {
    if (!running) return;
    await failures.load();
    await intake.search();
    await options.endpoints.takeUp();
  }

  function due(name: ReceiverName, told: 'here' | 'by another' | 'passed on' = 'here'): void {
    if (receivers.isElsewhere(name)) {
      if (told !== 'passed on') share.tell(name, told === 'by another');
      return;
    }
    const { applicationId, setting } = name;
    const receiver = receivers.of(name);
    if (isEndpoint(setting) && told !== 'here') {
      options.endpoints.heard({ applicationId, endpointId: setting });
      dropQueue(receiver);
    }
    receiver.more = true;
    pump(receiver);
  }

  return {
    /** The functions that store deliveries in units of work; see recording.ts. */
    ...recording,

    /** Tells applications how their receivers do. */
    notices,

    /** Called after the commit of a new delivery to an endpoint of this node, which is due at a time. */
    offer(name: ReceiverName, delivery: Delivery, dueAt: number): void {
      if (!running) return;
      if (dueAt > clock.now()) timer.schedule(receivers.of(name), dueAt);
      else accept(name, delivery);
    },

    /**
     * Called after a commit that made existing deliveries due again, or when another node says that deliveries of a
     * receiver are due.
     */
    due,

    /** Reads what waits for an endpoint again, after a change of it: some may be skipped, or wait for others now. */
    changed(name: ReceiverName): void {
      if (!receivers.isElsewhere(name)) dropQueue(receivers.of(name));
      due(name);
    },

    async start(): Promise<void> {
      if (options.held) {
        log.warn('no webhooks are sent (LAPEL_WEBHOOKS_HELD); a start without this setting sends them');
        return;
      }
      running = true;
      await wrongTimes.start();
      timer.start();
      await takeUp();
    },

    /** Called when this node has become responsible for further receivers, or may not have learned of due deliveries. */
    takeUp,

    /**
     * Called when other nodes have become responsible for some receivers: their queues are dropped here, and the other
     * nodes send the deliveries.
     */
    dropLost: receivers.dropLost,

    /**
     * Like `dropLost`, but resolves only when the attempts in progress for receivers of other nodes have ended and
     * their outcomes are stored, or given up after `HAND_OVER_MS`; the next node then sends these webhooks again.
     */
    async drain(): Promise<void> {
      receivers.dropLost();
      writer.hurry();
      const late = Promise.withResolvers<void>();
      const leaving = receivers.leaving();
      const cancel = clock.after(HAND_OVER_MS, () => {
        giveUp(leaving);
        late.resolve();
      });
      await Promise.race([handedOver.idle(), late.promise]);
      cancel();
      for (const receiver of receivers.all()) receivers.forget(receiver);
    },

    /** Finds receivers whose webhooks are due and sent by nobody. */
    slowLook,

    /** Resolves when no attempt, read or write is in progress and no receiver waits for a slot. */
    async idle(): Promise<void> {
      await wrongTimes.idle();
      await idle.idle();
      await hours.idle();
    },

    /**
     * Begins no further attempts. Lets the attempts in progress end within `drainMs`; deliveries without an outcome
     * stay pending.
     */
    async [Symbol.asyncDispose](): Promise<void> {
      running = false;
      slowLook.stop();
      timer.stop();
      const put = wrongTimes.stop();
      const cancel = clock.after(drainMs, () => {
        aborted = true;
        sender.abortAll();
      });
      await drained.idle();
      cancel();
      await put;
      await writer.close();
      await hours.close();
      await sender[Symbol.asyncDispose]();
      stopped = true;
      idle.tell();
    },
  };
}
