import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { BulkThrottle } from '../../runtime/bulk-throttle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { createSlowLook } from '../../runtime/slow-look.ts';
import type { Micros } from '../../runtime/units.ts';
import { findDevice } from '../devices/device-repository.ts';
import { type Ending, findEnding, isFromTheFuture, nextEnding, pullDown } from './expiry-repository.ts';

/** The transactions that one read finds, and the most of one device that one unit of work ends. */
const PER_READ = 256;
const PER_UNIT = 16;
/**
 * The devices whose transactions are ended at the same time. Measured with 20,000 that expire in the same second: with 4
 * devices, 1,100 end in a second, and single calls keep 85 % of their rate; with 32 it is 6,000 and 48 %.
 */
const DEVICES_AT_ONCE = 4;
/** The longest pause of the timer, because the clock can leap forward while a timer waits. No row is read for it. */
const LONGEST_WAIT_MS = 60_000;
/**
 * The least milliseconds between two reads that nobody asks for, on several nodes. The node that leads ends the transactions of all nodes, and does not
 * hear of those that the others store. When it dies, the next node that leads finds them in this time.
 */
const LOOK_MS = 2_000;
const RETRY_MS = 1_000;
/** Milliseconds between two slow looks; a transaction whose time has passed for longer is suspected. */
const SLOW_LOOK_MS = 10_000;
/** A transaction that was stored later than this after now is from a time at which the clock was wrong. */
const FUTURE_MICROS = 3_600 * 1_000_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  throttle: BulkThrottle;
  /** True on one node only, and always without a cluster. */
  leads(): boolean;
  trust: Pick<ClockTrust, 'isHeld' | 'whenBelieved' | 'latest'>;
  /** Ends a transaction if its time has passed, in a unit of work that has the device as its key. */
  expireIn(unit: UnitOfWork, transactionId: number): Promise<void>;
}

/**
 * Ends transactions whose time has passed. One timer waits for the earliest time. Each device has its own units of
 * work, few at a time, so that the units of callers come between them.
 */
export function createExpiry({ database, clock, log, metrics, leads, trust, throttle, expireIn }: Parts) {
  const work = createWork();
  let isOn = false;
  let looking = false;
  /** The earliest time at which a transaction may have to be ended, as far as this process knows. */
  let nextAt = Number.POSITIVE_INFINITY;
  let wakeAt = Number.POSITIVE_INFINITY;
  let cancel = (): void => undefined;

  function arm(): void {
    if (!isOn || looking || nextAt === Number.POSITIVE_INFINITY) return;
    const now = clock.now();
    const waitMs = Math.min(Math.max(0, Math.ceil((nextAt - now) / 1000)), LONGEST_WAIT_MS);
    const at = now + waitMs * 1000;
    if (at >= wakeAt) return;
    cancel();
    wakeAt = at;
    cancel = clock.after(waitMs, wake);
  }

  function wake(): void {
    wakeAt = Number.POSITIVE_INFINITY;
    if (clock.now() < nextAt) arm();
    else look();
  }

  function expect(at: Micros): void {
    if (at >= nextAt) return;
    nextAt = at;
    arm();
  }

  const expectNow = (): void => expect(clock.now());

  async function endOf(deviceId: string, ending: readonly Ending[]): Promise<void> {
    // On several nodes, the counts of a rollout are changed in units without a device's key (see settlement).
    const isAlone = ({ rolloutId }: Ending): boolean => database.sideBySide && rolloutId !== null;
    for (const { transactionId } of ending.filter(isAlone))
      await database.transact(
        async (unit) => {
          await findDevice(unit, deviceId, unit.forUpdate);
          await expireIn(unit, transactionId);
        },
        { pace: 'soon' },
      );
    const transactions = ending.filter((one) => !isAlone(one));
    for (let from = 0; isOn && from < transactions.length; from += PER_UNIT)
      await database.transact(
        async (unit) => {
          for (const { transactionId } of transactions.slice(from, from + PER_UNIT))
            await expireIn(unit, transactionId);
        },
        { device: deviceId, pace: 'soon' },
      );
  }

  /**
   * Finds transactions whose time has passed. If there are more than one read finds, a read from the other end joins it:
   * a hundred thousand commands of one application that expire together then delay none that expires after them.
   */
  async function find(): Promise<Ending[]> {
    const now = clock.now();
    const earliest = await findEnding(database.read, now, { end: 'earliest', limit: PER_READ });
    if (earliest.length < PER_READ) return earliest;
    const latest = await findEnding(database.read, now, { end: 'latest', limit: PER_READ });
    const known = new Set(earliest.map(({ transactionId }) => transactionId));
    return [...latest.filter(({ transactionId }) => !known.has(transactionId)), ...earliest];
  }

  /** Ends all whose time has passed. Resolves to the next time at which one has to be ended, if that is known. */
  async function endAll(): Promise<Micros | undefined> {
    while (isOn && leads()) {
      if (trust.isHeld()) {
        trust.whenBelieved(expectNow);
        return undefined;
      }
      const found = await find();
      if (found.length === 0) return nextEnding(database.read);
      const devices = Map.groupBy(found, ({ deviceId }) => deviceId).entries();
      const worker = async (): Promise<void> => {
        for (const [deviceId, transactions] of devices) {
          const began = performance.now();
          await endOf(deviceId, transactions);
          await throttle(began);
        }
      };
      const ends = await Promise.allSettled(Array.from({ length: DEVICES_AT_ONCE }, worker));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    }
    return undefined;
  }

  function look(): void {
    looking = true;
    nextAt = Number.POSITIVE_INFINITY;
    work.begun();
    endAll()
      .then(
        (earliest) => {
          if (earliest !== undefined) expect(earliest);
          expect(clock.now() + Math.max(LOOK_MS, database.lookAgainMs) * 1000);
        },
        (err: unknown) => {
          if (!isDatabaseAway(err)) log.error({ err }, 'transactions that expired could not be ended; trying again');
          expect(clock.now() + RETRY_MS * 1000);
        },
      )
      .finally(() => {
        looking = false;
        if (isOn && nextAt <= clock.now()) look();
        else arm();
        work.ended();
      });
  }

  /** The transaction whose time has passed longest, if nobody ends it and the timer does not come soon. */
  async function overlooked(): Promise<number | undefined> {
    const now = clock.now();
    const isIdle = (): boolean => isOn && !looking && leads() && !trust.isHeld() && nextAt > now + SLOW_LOOK_MS * 1000;
    if (!isIdle()) return undefined;
    const before = now - SLOW_LOOK_MS * 1000;
    const [first] = await findEnding(database.read, before, { end: 'earliest', limit: 1 });
    return isIdle() ? first?.transactionId : undefined;
  }

  const slowLook = createSlowLook({
    clock,
    log,
    what: 'expiry',
    keys: () => ['transactions'],
    overlooked,
    move: () => expect(clock.now()),
    count: () => metrics.overlooked.inc({ what: 'expiry' }),
    pieceMs: SLOW_LOOK_MS,
  });

  return {
    /** Ends what has expired while the service was stopped, and waits for the rest. */
    async start(): Promise<void> {
      const now = trust.latest();
      if (await isFromTheFuture(database.read, now, now + FUTURE_MICROS)) {
        const moved = await database.transact((unit) => pullDown(unit, now, now + FUTURE_MICROS), { pace: 'soon' });
        log.warn({ transactions: moved }, 'transactions were stored while the clock was ahead; their ends were moved');
      }
      isOn = true;
      look();
    },

    /** Call this after the commit of a transaction that may have to be ended at this time, or later. */
    expect,

    /** Finds commands whose end is due and carried out by nobody. */
    slowLook,

    idle: work.idle,

    async stop(): Promise<void> {
      isOn = false;
      slowLook.stop();
      cancel();
      await work.idle();
    },
  };
}
