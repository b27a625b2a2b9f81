import { isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Owned, Owner } from '../../platform/cluster/owner-repository.ts';
import type { DeviceOwnership } from '../../platform/cluster/peers.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { toUtc } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Watch } from '../../runtime/watch.ts';
import { type Command, createLane, type DeviceLink, type Lane } from './connection-state.ts';
import type { Due } from './due.ts';
import { createPreparation, type Prepare } from './preparation.ts';

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  watch: Watch;
  /** Takes up to `limit` of what is due after a transactionId, counting the attempt that is made at `now`. */
  claim(unit: UnitOfWork, deviceId: string, after: number, limit: number, now: number): Promise<Due[]>;
  /** The same for the cancel of one transaction; undefined when it is not due. */
  claimCancel(unit: UnitOfWork, transactionId: number): Promise<Due | undefined>;
  /** The device's PUBACK for a command came. */
  delivered(transactionId: number): void;
  /** The device's PUBACK for a cancel came. */
  cancelDelivered(transactionId: number): void;
  prepare: Prepare;
  /** Cancels that are due up to a transactionId. */
  dueCancels(unit: UnitOfWork, deviceId: string, upTo: number): Promise<number[]>;
  ownership: Pick<DeviceOwnership, 'look' | 'wake' | 'lost'>;
  /** Unacknowledged commands per device at most. */
  window?: number;
}

/** A place in the window, taken for a command that is being stored. */
interface Slot {
  send(due: Due): void;
}

const CLAIM_RETRY_MILLISECONDS = 1000;
// Cancels of one connection that are remembered, so that a hint does not bring them once more.
const SENT_CANCELS = 1000;
// Without a reason one would be made, with a stack, for every connection that ends.
const CLOSED = new Error('the connection has ended');

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Publishes what is due to connected devices, in order of transactionId, and to nobody else: the transactions table is
 * the only queue. A connection gets a lane. It starts behind nothing (cursor 0) with the backlog flag up, so all
 * unfinished transactions go out again. Claim: while the flag is up and the window has room, one unit of work takes the
 * next rows and counts their attempt; they are written to the socket when it has committed. Fast path: once the
 * database holds nothing more, a new transaction takes a slot of the window inside its own unit of work and goes out at
 * its commit without being read again. Both paths decide inside units, which run one after another, and write from
 * onCommit, which runs in the order of the units; so the order on the wire is the order of the identifiers. A command that
 * needs preparation (network, so never inside a unit) keeps its place: what comes after it on the lane waits for it, as
 * long as what it needs is away.
 * A cancel takes its turn: it is a row at the place of the transaction that it ends. When the cursor has passed that place,
 * it is the next to be claimed, before all that comes after the cursor, and as any command when the window has room.
 * A command that is acknowledged by PUBACK but never answered frees its slot, and holds up nothing behind it; and so does
 * one that is answered but never acknowledged by PUBACK.
 * Where there are other nodes, both paths see under the lock of the device that it is still this connection's, and the fast
 * path also that nobody stored anything due behind the cursor; who stores a command for a device of another node wakes that
 * node after the commit.
 */
export function createOutbox(parts: Parts) {
  const {
    database,
    clock,
    log,
    metrics,
    watch,
    claim,
    claimCancel,
    delivered,
    cancelDelivered,
    ownership,
    window = 16,
  } = parts;
  const prepare = createPreparation({ clock, log, prepare: parts.prepare });
  const lanes = new Map<string, Lane>();
  const work = createWork(); // claims and preparations under way
  let stopped = false;

  const hasBacklog = (lane: Lane): boolean => lane.backlog || lane.looksForCancels || lane.cancelled.size > 0;

  const toCommand = (due: Due): Command => ({
    transactionId: due.transactionId,
    operation: due.status === 'cancelled' ? 'cancel' : due.operation,
    parameters: due.status === 'cancelled' ? {} : due.parameters,
    // With the transactionId the identity of a command: the same in every attempt, and in the cancel of it.
    issuedAt: toUtc(due.createdAt),
    attempt: due.attempts,
  });

  /** Writes one command whose slot is already counted. */
  function send(lane: Lane, command: Command): void {
    if (!lane.open) return;
    const isCancel = command.operation === 'cancel';
    metrics.commandsPublished.inc({ kind: isCancel ? 'cancel' : command.attempt > 1 ? 'repeat' : 'first' });
    metrics.commandsInFlight.inc();
    if (watch.transactions > 0) watch.transaction(command.transactionId);
    const slot = isCancel ? -command.transactionId : command.transactionId;
    lane.written.add(slot);
    lane.link.publish(command, () => {
      if (!lane.open) return;
      if (isCancel) cancelDelivered(command.transactionId);
      else delivered(command.transactionId);
      received(lane, slot);
    });
  }

  function remember(lane: Lane, transactionId: number): void {
    lane.sentCancels.add(transactionId);
    if (lane.sentCancels.size > SENT_CANCELS)
      for (const oldest of lane.sentCancels.keys().take(1)) lane.sentCancels.delete(oldest);
  }

  /** The device has what was written: its slot is free. */
  function received(lane: Lane, slot: number): void {
    if (!lane.written.delete(slot)) return;
    metrics.commandsInFlight.dec();
    release(lane);
  }

  const preparationOf = (lane: Lane, due: Due): Promise<object | null> | undefined =>
    due.status === 'cancelled'
      ? undefined
      : prepare(due, { signal: lane.closing.signal, pausing: (pauses) => setPaused(lane, pauses) });

  /** Sends at once, or after its own preparation, which begins when what comes before it on the lane has gone. */
  function dispatch(lane: Lane, due: Due): void {
    if (due.status === 'cancelled') remember(lane, due.transactionId);
    const before = lane.preparing;
    const preparation = before ? undefined : preparationOf(lane, due);
    if (!before && !preparation) {
      send(lane, toCommand(due));
      return;
    }
    if (due.status !== 'cancelled') lane.unsent.add(due.transactionId);
    lane.turns += 1;
    if (!lane.paused) work.begun();
    const turn = sendInTurn(lane, due, before, preparation).then(() => {
      if (lane.preparing === turn) lane.preparing = undefined;
      lane.turns -= 1;
      work.ended();
    });
    lane.preparing = turn;
  }

  async function sendInTurn(
    lane: Lane,
    due: Due,
    before: Promise<void> | undefined,
    preparation: Promise<object | null> | undefined,
  ): Promise<void> {
    await before;
    // One that was cancelled while it waited is not sent any more.
    const isCommand = due.status !== 'cancelled';
    const isOver = (): boolean => isCommand && !lane.unsent.has(due.transactionId);
    const parameters = isOver() ? null : await (before ? preparationOf(lane, due) : preparation);
    const drops = parameters === null || isOver();
    if (isCommand) lane.unsent.delete(due.transactionId);
    if (drops) release(lane);
    else send(lane, toCommand(parameters ? { ...due, parameters } : due));
  }

  /** While a lane waits for the clock, its turns are no work. */
  function setPaused(lane: Lane, paused: boolean): void {
    lane.paused = paused;
    for (let turn = 0; turn < lane.turns; turn += 1)
      if (paused) work.ended();
      else work.begun();
  }

  /** Gives back the slot of a command that the device has, or that is not sent. */
  function release(lane: Lane): void {
    lane.inFlight -= 1;
    pump(lane);
  }

  async function claimOnce(lane: Lane): Promise<void> {
    await database.transactInCrowd(async (unit) => {
      const owner = await ownership.look(unit, lane.link.deviceId, lane.cursor);
      const room = window - lane.inFlight;
      if (!lane.open || room <= 0 || !isOurs(unit, lane, owner)) return;
      if (lane.looksForCancels) await lookForCancels(unit, lane);
      const cancels = await claimCancels(unit, lane, room);
      const left = room - cancels.length;
      const nothing = left <= 0 || owner?.behind === 0;
      const rows = nothing ? [] : await claim(unit, lane.link.deviceId, lane.cursor, left, clock.now());
      const before = { cursor: lane.cursor, backlog: lane.backlog };
      const taken = cancels.length + rows.length;
      lane.cursor = rows.at(-1)?.transactionId ?? lane.cursor;
      lane.backlog = rows.length === left;
      lane.inFlight += taken;
      unit.onRollback(() => {
        Object.assign(lane, before);
        lane.inFlight -= taken;
      });
      unit.onCommit(() => {
        for (const { transactionId } of cancels) lane.unsent.delete(transactionId);
        for (const due of [...cancels, ...rows]) dispatch(lane, due);
      });
    }, lane.link.deviceId);
  }

  /** Whether the device is still this connection's; if not, that ends. */
  function isOurs(unit: UnitOfWork, lane: Lane, owner: Owner | undefined): boolean {
    const { deviceId, epoch } = lane.link;
    if (owner !== undefined && owner.epoch === epoch) return true;
    unit.onCommit(() => {
      close(lane);
      if (epoch !== undefined) ownership.lost(deviceId, epoch);
    });
    return false;
  }

  /** Another node may have cancelled what was published here. */
  async function lookForCancels(unit: UnitOfWork, lane: Lane): Promise<void> {
    const { cancelled, sentCancels } = lane;
    const found = await parts.dueCancels(unit, lane.link.deviceId, lane.cursor);
    const news = found.filter((transactionId) => !cancelled.has(transactionId) && !sentCancels.has(transactionId));
    lane.looksForCancels = false;
    for (const transactionId of news) cancelled.add(transactionId);
    unit.onRollback(() => {
      lane.looksForCancels = true;
      for (const transactionId of news) cancelled.delete(transactionId);
    });
  }

  /** Takes cancels whose turn it is, by their transactionIds. One that is not due any more gives its turn up. */
  async function claimCancels(unit: UnitOfWork, lane: Lane, room: number): Promise<Due[]> {
    const cancels: Due[] = [];
    if (lane.cancelled.size === 0) return cancels;
    for (const transactionId of [...lane.cancelled].sort((a, b) => a - b)) {
      if (cancels.length === room) break;
      const due = await claimCancel(unit, transactionId);
      if (due) cancels.push(due);
      lane.cancelled.delete(transactionId);
      unit.onRollback(() => lane.cancelled.add(transactionId));
    }
    return cancels;
  }

  function pump(lane: Lane): void {
    if (stopped || !lane.open || lane.claiming || !hasBacklog(lane)) return;
    if (lane.inFlight >= window) {
      metrics.commandsHeld.inc();
      return;
    }
    lane.claiming = true;
    work.begun();
    claimOnce(lane)
      .then(
        () => {
          lane.claiming = false;
          pump(lane);
        },
        (err: unknown) => {
          if (!isDatabaseAway(err)) log.error({ err }, 'due commands could not be read; trying again');
          clock.after(CLAIM_RETRY_MILLISECONDS, () => {
            lane.claiming = false;
            pump(lane);
          });
        },
      )
      .finally(work.ended);
  }

  function reserveOn(unit: UnitOfWork, lane: Lane | undefined): Slot | undefined {
    if (!lane) return undefined;
    if (hasBacklog(lane) || lane.inFlight >= window) {
      lane.backlog = true;
      unit.onCommit(() => pump(lane));
      return undefined;
    }
    const before = lane.cursor;
    lane.inFlight += 1;
    unit.onRollback(() => {
      lane.inFlight -= 1;
      lane.cursor = before;
    });
    return {
      send(due) {
        lane.cursor = due.transactionId;
        unit.onCommit(() => dispatch(lane, due));
      },
    };
  }

  async function reserve(unit: UnitOfWork, deviceId: string): Promise<Slot | undefined> {
    const owner = await ownership.look(unit, deviceId, lanes.get(deviceId)?.cursor ?? Number.MAX_SAFE_INTEGER);
    const lane = lanes.get(deviceId); // one that has come meanwhile takes all that is due
    if (!lane || !isOurs(unit, lane, owner)) {
      if (owner) unit.onCommit(() => ownership.wake(deviceId, owner, 'wake'));
      return undefined;
    }
    if (owner?.behind === 1) lane.backlog = true;
    return reserveOn(unit, lane);
  }

  async function wakeOwner(unit: UnitOfWork, deviceId: string): Promise<void> {
    const owner = await ownership.look(unit, deviceId, Number.MAX_SAFE_INTEGER);
    if (owner && owner.epoch !== lanes.get(deviceId)?.link.epoch)
      unit.onCommit(() => ownership.wake(deviceId, owner, 'cancel'));
  }

  function close(lane: Lane): void {
    if (!lane.open) return;
    lane.open = false;
    lane.closing.abort(CLOSED);
    metrics.commandsInFlight.dec(lane.written.size);
    if (lanes.get(lane.link.deviceId) === lane) lanes.delete(lane.link.deviceId);
  }

  return {
    /** A device connected and subscribes its commands: everything unfinished goes out. The returned function ends that. */
    open(link: DeviceLink): () => void {
      const former = lanes.get(link.deviceId);
      if (former) close(former);
      const lane = createLane(link);
      lanes.set(link.deviceId, lane);
      pump(lane);
      return () => close(lane);
    },

    /**
     * Inside the unit of work that stores a new transaction, before its INSERT: a place when it will be published on the
     * device's present connection at the commit, so that it is stored with its first attempt counted. Then `send` must
     * follow in the same unit.
     */
    reserve,

    /** Inside the unit of work that cancels a transaction which the device may have, and stores that its cancel is due. */
    cancelled(unit: UnitOfWork, deviceId: string, transactionId: number): Promise<void> {
      const lane = lanes.get(deviceId);
      // Above the cursor it is claimed when that comes there.
      if (lane && transactionId <= lane.cursor) {
        lane.cancelled.add(transactionId);
        unit.onRollback(() => lane.cancelled.delete(transactionId));
        unit.onCommit(() => {
          lane.unsent.delete(transactionId);
          pump(lane);
        });
      }
      return wakeOwner(unit, deviceId);
    },

    /** Another node has stored a command, or a cancel, for a device that is connected here: at least it says so. */
    wake(deviceId: string, kind: 'wake' | 'cancel'): void {
      const lane = lanes.get(deviceId);
      if (!lane) return;
      if (kind === 'wake') lane.backlog = true;
      else lane.looksForCancels = true;
      pump(lane);
    },

    /** What a look found due for a device that is connected here. */
    found({ deviceId, newest, cancels }: Pick<Owned, 'deviceId' | 'newest' | 'cancels'>): void {
      const lane = lanes.get(deviceId);
      if (!lane || newest === null) return;
      if (newest > lane.cursor) lane.backlog = true;
      if (cancels) lane.looksForCancels = true;
      pump(lane);
    },

    /** The device said something of a transaction: it has what it was told of it, also when its PUBACK never comes. */
    answered(deviceId: string, transactionId: number): void {
      const lane = lanes.get(deviceId);
      if (!lane) return;
      received(lane, transactionId);
      received(lane, -transactionId);
    },

    idle: work.idle,

    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      for (const lane of lanes.values()) close(lane);
    },
  };
}
