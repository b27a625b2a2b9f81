import type { Owner } from '../../platform/cluster/owner-repository.ts';
import type { DeviceOwnership } from '../../platform/cluster/peers.ts';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { HeldRollouts } from '../../runtime/held-rollouts.ts';
import type { Micros } from '../../runtime/units.ts';
import type { ConnectionState } from './connection-state.ts';
import type { Due } from './due.ts';

export interface ClaimingParts {
  database: Database;
  clock: Clock;
  /** Finds up to `limit` due commands after a transactionId, in order. */
  findDue(unit: UnitOfWork, deviceId: string, after: number, limit: number, now: Micros): Promise<Due[]>;
  /**
   * Claims a due command that was found in the same unit: counts its attempt, which begins at `now`, in the database
   * before the command is sent. `refused` is called before the commit if it was not counted.
   */
  countAttempt(unit: UnitOfWork, transactionId: number, now: Micros, refused: () => void): void;
  /** Claims the cancel of one transaction; undefined when the cancel need not be sent any more. */
  claimCancel(unit: UnitOfWork, transactionId: number): Promise<Due | undefined>;
  /** Finds the transactions up to a transactionId whose cancels must still be sent. */
  dueCancels(unit: UnitOfWork, deviceId: string, upTo: number): Promise<number[]>;
  /** Stores the PUBACKs of a device that are known in memory only. */
  storePubacks(unit: UnitOfWork, deviceId: string): Promise<void>;
  /** Finds the unfinished commands of rollouts up to a transactionId, and whether each is held back. */
  unfinishedOfRollouts(unit: UnitOfWork, deviceId: string, upTo: number): Promise<ReadonlyMap<number, boolean>>;
  /** Claims one command whose rollout held it back; undefined when it must not be published. */
  claimReleased(unit: UnitOfWork, deviceId: string, transactionId: number, now: Micros): Promise<Due | undefined>;
  /** The rollouts whose commands are held, as this node knows it. */
  held: Pick<HeldRollouts, 'isHeld'>;
  /** Called after the commit of a claim that has passed over a command of a rollout. */
  heldBack(rolloutId: string, deviceId: string): void;
  /** Rises with each release of a rollout. */
  releases(): number;
  ownership: Pick<DeviceOwnership, 'look' | 'lost'>;
  /** Called when a command was claimed and its attempt is committed. */
  dispatch(connection: ConnectionState, due: Due): void;
  close(connection: ConnectionState): void;
  /** Called when a claim was rolled back, perhaps long after the wait for it was given up. */
  rolledBack(connection: ConnectionState): void;
}

/**
 * Claims due commands and cancels for a connection, before they are written to it. Each claim is a unit of work under
 * the lock of the device.
 */
export function createClaiming(parts: ClaimingParts) {
  const { database, clock, findDue, countAttempt, claimCancel, dueCancels, ownership, dispatch, close } = parts;

  /**
   * Whether this is still the device's current connection. If the device has a newer one, the outbox closes its state
   * of this connection at the commit.
   */
  function isOurs(unit: UnitOfWork, connection: ConnectionState, owner: Owner | undefined): boolean {
    const { deviceId, epoch } = connection.link;
    if (owner !== undefined && owner.epoch === epoch) return true;
    unit.onCommit(() => {
      close(connection);
      if (epoch !== undefined) ownership.lost(deviceId, epoch);
    });
    return false;
  }

  /** Finds cancels that another node stored for commands that were published here. */
  async function lookForCancels(unit: UnitOfWork, connection: ConnectionState): Promise<void> {
    const { cancelled, sentCancels } = connection;
    const found = await dueCancels(unit, connection.link.deviceId, connection.cursor);
    const news = found.filter((transactionId) => !cancelled.has(transactionId) && !sentCancels.has(transactionId));
    connection.looksForCancels = false;
    for (const transactionId of news) cancelled.add(transactionId);
    unit.onRollback(() => {
      connection.looksForCancels = true;
      for (const transactionId of news) cancelled.delete(transactionId);
    });
  }

  /**
   * Claims cancels in the order of their transactionIds, at most `room`. A cancel that need not be sent any more is
   * forgotten.
   */
  async function claimCancels(unit: UnitOfWork, connection: ConnectionState, room: number): Promise<Due[]> {
    const cancels: Due[] = [];
    if (connection.cancelled.size === 0) return cancels;
    for (const transactionId of [...connection.cancelled].sort((a, b) => a - b)) {
      if (cancels.length === room) break;
      const due = await claimCancel(unit, transactionId);
      if (due) cancels.push(due);
      connection.cancelled.delete(transactionId);
      unit.onRollback(() => connection.cancelled.add(transactionId));
    }
    return cancels;
  }

  /**
   * Claims commands that their rollouts held back before, and have released. It looks for them in each claim that has room, since
   * nobody may have been told of their release, and later commands must not come before them.
   */
  async function claimReleased(
    unit: UnitOfWork,
    connection: ConnectionState,
    room: number,
    now: Micros,
  ): Promise<Due[]> {
    const { heldBack, cursor } = connection;
    if ((heldBack.size === 0 && !connection.looksForReleased) || room <= 0) return [];
    const { deviceId } = connection.link;
    const before = new Map(heldBack);
    connection.looksForReleased = false;
    unit.onRollback(() => {
      connection.looksForReleased = true;
      for (const [transactionId, rolloutId] of before) heldBack.set(transactionId, rolloutId);
    });
    const found = await parts.unfinishedOfRollouts(unit, deviceId, cursor);
    const claimed: Due[] = [];
    for (const [transactionId, rolloutId] of [...before].sort(([a], [b]) => a - b)) {
      // A hold in memory may outlive that of the database: the command would be held back again, and again.
      if (parts.held.isHeld(rolloutId)) continue;
      const isHeld = found.get(transactionId);
      if (isHeld === true) continue;
      if (isHeld === false) {
        if (claimed.length === room) {
          connection.looksForReleased = true;
          break;
        }
        const due = await parts.claimReleased(unit, deviceId, transactionId, now);
        if (!due) continue; // another node has paused its rollout since the read: the next release finds it
        claimed.push(due);
      }
      heldBack.delete(transactionId);
    }
    return claimed;
  }

  /** Notes a command that the claim passes over, because its rollout holds it back. */
  function holdBack(unit: UnitOfWork, connection: ConnectionState, due: Due, releases: number): void {
    const { transactionId, rolloutId } = due;
    if (rolloutId === null) return;
    connection.heldBack.set(transactionId, rolloutId);
    unit.onRollback(() => connection.heldBack.delete(transactionId));
    unit.onCommit(() => parts.heldBack(rolloutId, connection.link.deviceId));
    // Its release may have been told while the rows were read.
    if (parts.releases() !== releases) connection.looksForReleased = true;
  }

  /**
   * Claims the found commands that no rollout holds back; returns those that are to be sent at the commit. A command whose
   * attempt could not be counted leaves them before that.
   */
  function claimFound(
    unit: UnitOfWork,
    connection: ConnectionState,
    rows: readonly Due[],
    { now, releases }: { now: Micros; releases: number },
  ): Set<Due> {
    const goes = new Set<Due>();
    for (const due of rows) {
      if (due.held === 1) {
        holdBack(unit, connection, due, releases);
        continue;
      }
      goes.add(due);
      countAttempt(unit, due.transactionId, now, () => {
        goes.delete(due);
        holdBack(unit, connection, due, releases);
      });
    }
    return goes;
  }

  return {
    isOurs,

    /**
     * Claims as many due cancels and commands as the window has room for, in one unit of work. At its commit they are
     * sent.
     */
    claimOnce: (connection: ConnectionState): Promise<void> =>
      database.transact(
        async (unit) => {
          const { deviceId } = connection.link;
          unit.onRollback(() => parts.rolledBack(connection)); // after those below
          const now = clock.now();
          const releases = parts.releases();
          const find = (limit: number): Promise<Due[]> => findDue(unit, deviceId, connection.cursor, limit, now);
          // What is known of the commands of former connections; a mark of this one comes after its claim.
          if (connection.cursor === 0) await parts.storePubacks(unit, deviceId);
          const looked = ownership.look(unit, deviceId, connection.cursor);
          // A device that has had commands on this connection probably has another, so both reads are one round trip.
          const free = connection.window - connection.inFlight;
          const isLikely = database.roundTrips && connection.cursor > 0 && free > 0;
          const [owner, found] = isLikely ? await inOneGo(looked, find(free)) : [await looked];
          // Places that answers have freed during the read are for the next claim.
          const room = found ? free : connection.window - connection.inFlight;
          if (!connection.open || room <= 0 || !isOurs(unit, connection, owner)) return;
          if (connection.looksForCancels) await lookForCancels(unit, connection);
          const cancels = await claimCancels(unit, connection, room);
          const released = await claimReleased(unit, connection, room - cancels.length, now);
          const left = room - cancels.length - released.length;
          const nothing = left <= 0 || owner?.behind === 0;
          const rows = nothing ? [] : (found?.slice(0, left) ?? (await find(left)));
          const before = { cursor: connection.cursor, backlog: connection.backlog };
          const goes = claimFound(unit, connection, rows, { now, releases });
          const claimed = goes.size;
          const taken = cancels.length + released.length + claimed;
          connection.cursor = rows.at(-1)?.transactionId ?? connection.cursor;
          connection.backlog = rows.length === left;
          connection.inFlight += taken;
          unit.onRollback(() => {
            Object.assign(connection, before);
            connection.inFlight -= taken;
          });
          unit.onCommit(() => {
            connection.inFlight -= claimed - goes.size;
            for (const { transactionId } of cancels) connection.unsent.delete(transactionId);
            for (const due of [...cancels, ...released, ...goes]) dispatch(connection, due);
          });
        },
        { device: connection.link.deviceId, pace: 'crowd' },
      ),
  };
}
