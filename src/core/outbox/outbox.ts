import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { DueOfDevice } from '../../platform/cluster/owner-repository.ts';
import type { DeviceOwnership } from '../../platform/cluster/peers.ts';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { createSlowLook } from '../../runtime/slow-look.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Watch } from '../../runtime/watch.ts';
import { type ClaimingParts, createClaiming } from './claiming.ts';
import { type ConnectionState, createConnectionState, type DeviceLink } from './connection-state.ts';
import { createDispatching, type DispatchingParts } from './dispatching.ts';
import type { Due } from './due.ts';
import { createPreparation, type Prepare } from './preparation.ts';

interface Parts
  extends Omit<ClaimingParts, 'dispatch' | 'close' | 'rolledBack' | 'held' | 'ownership' | 'releases'>,
    Pick<DispatchingParts, 'delivered' | 'cancelDelivered' | 'held'> {
  log: Log;
  metrics: Metrics;
  watch: Watch;
  tracing: Tracing;
  prepare: Prepare;
  ownership: Pick<DeviceOwnership, 'look' | 'wake' | 'lost'>;
  /** The first due command of a device after a transactionId, by its transactionId. */
  firstDue(sql: Sql, deviceId: string, after: number, now: Micros): Promise<number | undefined>;
  /** The most unacknowledged commands of a device that says no other number. */
  window?: number;
}

/** Room for one more unacknowledged command on a connection, reserved for a command that is being stored. */
interface Slot {
  send(due: Due): void;
}

const CLAIM_RETRY_MS = 1000;
// One error for all; abort() without a reason would create an error, with its stack, for every connection that ends.
const CLOSED = new Error('the connection has ended');

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Publishes due commands to connected devices, in the order of the transactionIds. The table of transactions is the only
 * queue: nothing is published to a device that is not connected. Each connection has a state with a cursor, the last
 * transactionId that was claimed on it. The cursor begins at 0, so that all unfinished transactions are published again.
 *
 * - Claim: while the database may hold commands after the cursor and the window has room, one unit of work claims the next
 *   rows and counts their attempt; they are written to the socket after its commit.
 * - Fast path: when the database holds no others, a new transaction reserves a slot of the window inside its own unit of
 *   work, and is written at its commit, without being read again.
 * - Order: both paths decide inside units of work of the same device, which run one after another, and write in onCommit, in
 *   the order of the units. So commands are written in the order of their transactionIds.
 * - Preparation: a command that needs one (over the network, so never inside a unit) keeps its position; later commands of the
 *   connection wait for it, as long as its preparation takes.
 * - Cancels: a cancel has the transactionId of its transaction. If the cursor is already beyond it, the cancel is the next to
 *   be claimed, before the commands after the cursor, and like them only when the window has room.
 * - Held back: the undelivered commands of a paused rollout are passed over. When the rollout goes on, they are claimed
 *   with their own transactionIds, so that a device that has carried one out does not do it again. A new command takes the
 *   fast path only if none of them has been let go, in the database, since.
 * - Window: a command that is acknowledged by PUBACK but never answered frees its slot, and so does one that is answered but
 *   never acknowledged by PUBACK.
 * - Several nodes: both paths check under the device's lock that the connection is still the device's current one. The fast
 *   path also checks that no other node has stored a due command after the cursor. A node that stores a command for a device
 *   of another node tells that node after the commit.
 */
export function createOutbox(parts: Parts) {
  const { database, clock, log, metrics, ownership, window = 16 } = parts;
  const connections = new Map<string, ConnectionState>();
  const work = createWork(); // counts the claims in progress, and the commands whose parameters are being made
  const { dispatch, received } = createDispatching({
    ...parts,
    work,
    prepare: createPreparation(parts),
    released: pump,
  });
  let releases = 0;
  const { claimOnce, isOurs } = createClaiming({
    ...parts,
    dispatch,
    close,
    rolledBack: pump,
    releases: () => releases,
  });
  let stopped = false;

  const hasBacklog = (connection: ConnectionState): boolean =>
    connection.backlog || connection.looksForCancels || connection.looksForReleased || connection.cancelled.size > 0;

  function pump(connection: ConnectionState): void {
    if (stopped || !connection.open || connection.claiming || !hasBacklog(connection)) return;
    if (connection.inFlight >= connection.window) {
      metrics.commandsHeld.inc();
      return;
    }
    connection.claiming = true;
    work.begun();
    claimOnce(connection)
      .then(
        () => {
          connection.claiming = false;
          pump(connection);
        },
        (err: unknown) => {
          if (!isDatabaseAway(err)) log.error({ err }, 'due commands could not be read; trying again');
          clock.after(CLAIM_RETRY_MS, () => {
            connection.claiming = false;
            pump(connection);
          });
        },
      )
      .finally(work.ended);
  }

  /** Lets the next claim look for new commands, and for held ones that were released; one that reads now may miss either. */
  function lookAgain(connection: ConnectionState): void {
    releases += 1;
    connection.backlog = true;
    if (connection.heldBack.size > 0) connection.looksForReleased = true;
  }

  function reserveOn(unit: UnitOfWork, connection: ConnectionState | undefined, waits: boolean): Slot | undefined {
    if (!connection) return undefined;
    if (waits || hasBacklog(connection) || connection.inFlight >= connection.window) {
      connection.backlog = true;
      unit.onCommit(() => pump(connection));
      return undefined;
    }
    const before = connection.cursor;
    connection.inFlight += 1;
    unit.onRollback(() => {
      connection.inFlight -= 1;
      connection.cursor = before;
      pump(connection); // a claim may have found no room meanwhile
    });
    return {
      send(due) {
        connection.cursor = due.transactionId;
        unit.onCommit(() => dispatch(connection, due));
      },
    };
  }

  /** Whether a rollout has let a command go that this connection holds back: nobody may have been told of it yet. */
  async function hasReleased(unit: UnitOfWork, { link, cursor, heldBack }: ConnectionState): Promise<boolean> {
    const found = await parts.unfinishedOfRollouts(unit, link.deviceId, cursor);
    return heldBack.entries().some(([id, rolloutId]) => found.get(id) === false && !parts.held.isHeld(rolloutId));
  }

  async function reserve(
    unit: UnitOfWork,
    deviceId: string,
    { waits = false, isCalled = false }: { waits?: boolean; isCalled?: boolean } = {},
  ): Promise<Slot | undefined> {
    const before = connections.get(deviceId);
    const looked = ownership.look(unit, deviceId, before?.cursor ?? Number.MAX_SAFE_INTEGER);
    const holdsBack = before !== undefined && before.heldBack.size > 0;
    const [owner, released] = holdsBack ? await inOneGo(looked, hasReleased(unit, before)) : [await looked, false];
    // Read again, since a connection that came during the await claims all commands itself.
    const connection = connections.get(deviceId);
    if (!connection || !isOurs(unit, connection, owner)) {
      if (owner)
        unit.onCommit(() => {
          ownership.wake(deviceId, owner, 'wake');
          if (isCalled) ownership.wake(deviceId, owner, 'crossed');
        });
      return undefined;
    }
    if (owner?.behind === 1) connection.backlog = true;
    if (released) connection.looksForReleased = true;
    return reserveOn(unit, connection, waits);
  }

  /** On several nodes, other looks find what a lost announcement has left (`found`). */
  async function overlooked(connection: ConnectionState): Promise<number | undefined> {
    const { link, window: room, cursor, open, claiming, inFlight, turns } = connection;
    if (database.shared || !open || claiming || turns > 0 || inFlight >= room || hasBacklog(connection))
      return undefined;
    return parts.firstDue(database.read, link.deviceId, cursor, clock.now());
  }

  const slowLook = createSlowLook<string>({
    clock,
    log,
    what: 'commands',
    keys: () => connections.keys(),
    overlooked: async (deviceId) => {
      const connection = connections.get(deviceId);
      return connection && overlooked(connection);
    },
    move(deviceId) {
      const connection = connections.get(deviceId);
      if (!connection) return;
      connection.backlog = true;
      pump(connection);
    },
    count: () => metrics.overlooked.inc({ what: 'commands' }),
  });

  async function wakeOwner(unit: UnitOfWork, deviceId: string): Promise<void> {
    const owner = await ownership.look(unit, deviceId, Number.MAX_SAFE_INTEGER);
    if (owner && owner.epoch !== connections.get(deviceId)?.link.epoch)
      unit.onCommit(() => ownership.wake(deviceId, owner, 'cancel'));
  }

  function close(connection: ConnectionState): void {
    if (!connection.open) return;
    connection.open = false;
    connection.closing.abort(CLOSED);
    metrics.commandsInFlight.dec(connection.written.size);
    for (const span of connection.spans?.values() ?? []) span.end({ error: 'the connection ended before the PUBACK' });
    connection.spans = undefined;
    if (connections.get(connection.link.deviceId) === connection) connections.delete(connection.link.deviceId);
  }

  return {
    /**
     * Call this when a device has connected and subscribed to its commands: all its unfinished commands are published.
     * Call the returned function when the connection or the subscription ends.
     */
    open(link: DeviceLink): () => void {
      const former = connections.get(link.deviceId);
      if (former) close(former);
      const connection = createConnectionState(link, window);
      connections.set(link.deviceId, connection);
      pump(connection);
      return () => close(connection);
    },

    /**
     * Called inside the unit of work that stores a new transaction, before its INSERT. Returns a slot if the connection
     * has room, so that the command is stored with its first attempt counted. Then the caller must call `send` of the
     * slot in the same unit; the command is published at the commit. `waits`: the command is not published before the
     * cancels of the same commit, so there is no slot.
     */
    reserve,

    /**
     * Called inside the unit of work that cancels a transaction which the device may have received, and stores its cancel as
     * due.
     */
    cancelled(unit: UnitOfWork, deviceId: string, transactionId: number): Promise<void> {
      const connection = connections.get(deviceId);
      // A cancel after the cursor is claimed when the cursor reaches it.
      if (connection && transactionId <= connection.cursor) {
        connection.cancelled.add(transactionId);
        unit.onRollback(() => connection.cancelled.delete(transactionId));
        unit.onCommit(() => {
          connection.unsent.delete(transactionId);
          pump(connection);
        });
      } else if (connection)
        // The claim that passed over it, because its time was over, may have been the last one.
        unit.onCommit(() => {
          connection.backlog = true;
          pump(connection);
        });
      return wakeOwner(unit, deviceId);
    },

    /** Called when another node says that it stored a command, or a cancel, for a device that is connected here. */
    wake(deviceId: string, kind: 'wake' | 'cancel'): void {
      const connection = connections.get(deviceId);
      if (!connection) return;
      if (kind === 'wake') lookAgain(connection);
      else connection.looksForCancels = true;
      pump(connection);
    },

    /** Called inside the unit of work after which a command of a device is held no longer. */
    async letGo(unit: UnitOfWork, deviceId: string): Promise<void> {
      const owner = await ownership.look(unit, deviceId, Number.MAX_SAFE_INTEGER);
      const connection = connections.get(deviceId);
      const isElsewhere = owner !== undefined && owner.epoch !== connection?.link.epoch;
      unit.onCommit(() => {
        if (isElsewhere) ownership.wake(deviceId, owner, 'wake');
        else if (connection) {
          lookAgain(connection);
          pump(connection);
        }
      });
    },

    /**
     * Called with the due transactions of a device that is connected here, as the periodic check of the database found
     * them; the announcement by another node may have been lost.
     */
    found({ deviceId, newest, cancels }: Omit<DueOfDevice, 'epoch'>): void {
      const connection = connections.get(deviceId);
      if (!connection) return;
      if (newest > connection.cursor) connection.backlog = true;
      if (cancels) connection.looksForCancels = true;
      if (connection.heldBack.size > 0) connection.looksForReleased = true;
      pump(connection);
    },

    /** Called after the commit that lets a rollout publish its commands. */
    released(rolloutId: string): void {
      releases += 1;
      for (const connection of connections.values())
        if (connection.heldBack.size > 0 && connection.heldBack.values().some((held) => held === rolloutId)) {
          connection.looksForReleased = true;
          pump(connection);
        }
    },

    /**
     * Called when the device has answered a command: it has received it, even if the PUBACK never comes. `isEnd`: the
     * command has ended, so it is not sent again.
     */
    answered(deviceId: string, transactionId: number, isEnd: boolean): void {
      const connection = connections.get(deviceId);
      if (!connection) return;
      if (isEnd) connection.unsent.delete(transactionId);
      received(connection, transactionId);
      received(connection, -transactionId);
    },

    /**
     * When the oldest command was written that its device, still connected, has neither acknowledged by PUBACK nor
     * answered; undefined without one.
     */
    oldestInFlight(): Micros | undefined {
      let oldest: Micros | undefined;
      for (const { written } of connections.values())
        for (const at of written.values().take(1)) if (oldest === undefined || at < oldest) oldest = at;
      return oldest;
    },

    /** Finds commands that are due and moved by nobody. */
    slowLook,

    idle: work.idle,

    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      slowLook.stop();
      for (const connection of connections.values()) close(connection);
    },
  };
}
