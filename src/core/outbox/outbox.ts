import { isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Owned } from '../../platform/cluster/owner-repository.ts';
import type { DeviceOwnership } from '../../platform/cluster/peers.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Watch } from '../../runtime/watch.ts';
import { type ClaimingParts, createClaiming } from './claiming.ts';
import { createLane, type DeviceLink, type Lane } from './connection-state.ts';
import { createDispatching, type DispatchingParts } from './dispatching.ts';
import type { Due } from './due.ts';
import { createPreparation, type Prepare } from './preparation.ts';

interface Parts
  extends Omit<ClaimingParts, 'window' | 'dispatch' | 'close' | 'ownership'>,
    Pick<DispatchingParts, 'delivered' | 'cancelDelivered'> {
  log: Log;
  metrics: Metrics;
  watch: Watch;
  prepare: Prepare;
  ownership: Pick<DeviceOwnership, 'look' | 'wake' | 'lost'>;
  /** Unacknowledged commands per device at most. */
  window?: number;
}

/** A place in the window, taken for a command that is being stored. */
interface Slot {
  send(due: Due): void;
}

const CLAIM_RETRY_MILLISECONDS = 1000;
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
  const { clock, log, metrics, ownership, window = 16 } = parts;
  const lanes = new Map<string, Lane>();
  const work = createWork(); // claims and preparations under way
  const { dispatch, received } = createDispatching({
    ...parts,
    work,
    prepare: createPreparation(parts),
    released: pump,
  });
  const { claimOnce, isOurs } = createClaiming({ ...parts, window, dispatch, close });
  let stopped = false;

  const hasBacklog = (lane: Lane): boolean => lane.backlog || lane.looksForCancels || lane.cancelled.size > 0;

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
