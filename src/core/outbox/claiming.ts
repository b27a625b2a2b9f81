import type { Owner } from '../../platform/cluster/owner-repository.ts';
import type { DeviceOwnership } from '../../platform/cluster/peers.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Lane } from './connection-state.ts';
import type { Due } from './due.ts';

export interface ClaimingParts {
  database: Database;
  clock: Clock;
  /** Takes up to `limit` due commands after a transactionId, and counts the attempt that is made at `now`. */
  claim(unit: UnitOfWork, deviceId: string, after: number, limit: number, now: number): Promise<Due[]>;
  /** The same for the cancel of one transaction; undefined when it is not due. */
  claimCancel(unit: UnitOfWork, transactionId: number): Promise<Due | undefined>;
  /** Cancels that are due up to a transactionId. */
  dueCancels(unit: UnitOfWork, deviceId: string, upTo: number): Promise<number[]>;
  ownership: Pick<DeviceOwnership, 'look' | 'lost'>;
  /** Unacknowledged commands per device at most. */
  window: number;
  /** A command was claimed and its attempt is committed. */
  dispatch(lane: Lane, due: Due): void;
  close(lane: Lane): void;
}

/** Takes due commands and cancels for a connection, in units of work under the lock of its device. */
export function createClaiming(parts: ClaimingParts) {
  const { database, clock, claim, claimCancel, dueCancels, ownership, window, dispatch, close } = parts;

  /** Whether the device is still this connection's; if not, the connection's state is closed with the commit. */
  function isOurs(unit: UnitOfWork, lane: Lane, owner: Owner | undefined): boolean {
    const { deviceId, epoch } = lane.link;
    if (owner !== undefined && owner.epoch === epoch) return true;
    unit.onCommit(() => {
      close(lane);
      if (epoch !== undefined) ownership.lost(deviceId, epoch);
    });
    return false;
  }

  /** Finds cancels that another node stored for commands that were published here. */
  async function lookForCancels(unit: UnitOfWork, lane: Lane): Promise<void> {
    const { cancelled, sentCancels } = lane;
    const found = await dueCancels(unit, lane.link.deviceId, lane.cursor);
    const news = found.filter((transactionId) => !cancelled.has(transactionId) && !sentCancels.has(transactionId));
    lane.looksForCancels = false;
    for (const transactionId of news) cancelled.add(transactionId);
    unit.onRollback(() => {
      lane.looksForCancels = true;
      for (const transactionId of news) cancelled.delete(transactionId);
    });
  }

  /** Takes cancels whose turn it is, by their transactionIds. A cancel that is no longer due is dropped. */
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

  return {
    isOurs,

    /** One unit of work: as many due cancels and commands as the window has room for. They are dispatched at its commit. */
    claimOnce: (lane: Lane): Promise<void> =>
      database.transactInCrowd(async (unit) => {
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
      }, lane.link.deviceId),
  };
}
