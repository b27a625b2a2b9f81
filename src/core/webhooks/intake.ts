import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { ReceiverName } from './delivery.ts';
import type { DueDeliveries } from './due-deliveries.ts';
import type { createDueTimer } from './due-timer.ts';
import { hold, holds, type Receiver, roomIn } from './receiver.ts';
import type { createReceivers } from './receivers.ts';

/** The most deliveries in memory that a page leaves out. */
const LEFT_OUT = 256;
/** Microseconds before a failed read is tried again. */
export const READ_PAUSE_MICROS = 1_000_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  rows: Pick<DueDeliveries, 'findDue' | 'findOtherDue' | 'findNextDue' | 'findNextReceiver' | 'findReceivers'>;
  receivers: ReturnType<typeof createReceivers>;
  timer: Pick<ReturnType<typeof createDueTimer>, 'schedule'>;
  /** Sends the deliveries of a receiver that may be sent. */
  pump(receiver: Receiver): void;
  /** Called after each read. */
  rested(): void;
}

/** Takes deliveries from the database into the queues of their receivers. */
export function createIntake({ database, clock, log, rows, receivers, timer, pump, rested }: Parts) {
  let searched: Awaited<ReturnType<typeof rows.findReceivers>> = [];
  let reads = 0;

  /** Reads the deliveries of a receiver that are due, as many as it has room for. */
  async function read(receiver: Receiver): Promise<void> {
    receiver.reading = true;
    receiver.more = false; // a delivery that is committed from here on is queued at once, or sets `more`
    reads += 1;
    const now = clock.now();
    // The page may be older than the outcomes that are stored during the read, and show their deliveries as pending. So
    // deliveries that were in memory before the read are skipped too.
    const skip = { held: new Map(receiver.held) };
    const room = roomIn(receiver);
    // Another node announces each delivery that it stores, so the server would mostly send deliveries that are in memory.
    const isShort = database.roundTrips && skip.held.size <= LEFT_OUT;
    const limit = isShort ? room : room + skip.held.size;
    try {
      const page = isShort
        ? await rows.findOtherDue(database.read, receiver, skip.held, { now, limit })
        : await rows.findDue(database.read, receiver, now, limit);
      for (const delivery of receivers.mine(receiver) ? page : []) {
        if (holds(skip, delivery) || holds(receiver, delivery)) continue;
        if (roomIn(receiver) > 0) hold(receiver, delivery);
        else receiver.more = true;
      }
      if (page.length === limit) receiver.more = true;
      const next = await rows.findNextDue(database.read, receiver, now);
      if (next !== undefined) timer.schedule(receiver, next);
    } catch (cause) {
      if (!isDatabaseAway(cause))
        log.error({ err: cause, setting: receiver.setting }, 'webhooks that are due could not be read');
      timer.schedule(receiver, now + READ_PAUSE_MICROS);
    }
    receiver.reading = false;
    reads -= 1;
    pump(receiver);
    receivers.forget(receiver);
    rested();
  }

  /**
   * Finds the receivers of this node with pending deliveries. The deliveries themselves are read later, when they can
   * be sent.
   */
  async function search(): Promise<void> {
    if (database.roundTrips) {
      searched = await rows.findReceivers(database.prompt);
      return searched.forEach(takeUpOne);
    }
    let found = await rows.findNextReceiver(database.read, { applicationId: '', setting: '' });
    while (found) {
      takeUpOne(found);
      found = await rows.findNextReceiver(database.read, found);
    }
  }

  function takeUpOne(found: ReceiverName & { nextAttemptAt: number }): void {
    if (receivers.isElsewhere(found)) return;
    const receiver = receivers.of(found);
    timer.schedule(receiver, found.nextAttemptAt);
    pump(receiver);
  }

  return {
    read,
    search,
    /** The pending receivers that the last search on nodes has found. */
    searched: (): readonly ReceiverName[] => searched,
    /** Whether a read is in progress. */
    isReading: (): boolean => reads > 0,
  };
}
