import { remember } from '../bounded-map.ts';
import type { Look } from '../promises/looks.ts';
import type { Entry } from './entry.ts';
import { isStopped } from './stops.ts';

/** The most commands whose cancels are awaited; the oldest is forgotten first. */
const KEPT = 10_000;

/** A command that a device has and has not answered, and that the service has stopped: the device is owed its cancel. */
export interface OwedCancel {
  readonly transactionId: number;
  readonly deviceId: string;
  /** The time at which the customer learned that the command was stopped. */
  readonly since: number;
}

/** The cancels that devices are owed, until they arrive. */
export interface OwedCancels {
  /** A transaction has ended. */
  ended(entry: Entry, at: number): void;
  /** A cancel has arrived on the device of the transaction. */
  arrived(entry: Entry, at: number): void;
  /**
   * The connections of a device were shared with another client, which may have taken a cancel in its place. The device is
   * owed none from now on.
   */
  excuse(deviceId: string): void;
  /** The device belongs to another developer from now on, and is owed nothing of the former one. */
  moved(deviceId: string, at: number): void;
  owed(): readonly OwedCancel[];
  forget(transactionId: number): void;
}

export function createOwedCancels(look: Look): OwedCancels {
  const waiting = new Map<number, { readonly entry: Entry; readonly since: number }>();
  const excused = new Set<string>();
  const movedAt = new Map<string, number>();

  function forgetOf(deviceId: string): void {
    for (const [transactionId, { entry }] of waiting) if (entry.deviceId === deviceId) waiting.delete(transactionId);
  }

  return {
    ended(entry, at) {
      const { transactionId, deviceId, deliveredAt, answeredAt, cancelGotAt, result } = entry;
      if (!result || !isStopped(result) || deliveredAt === null || answeredAt !== null) return;
      if (deliveredAt < (movedAt.get(deviceId) ?? 0)) return;
      look('cancel-owed');
      if (cancelGotAt === null && !excused.has(deviceId)) remember(waiting, transactionId, { entry, since: at }, KEPT);
    },
    arrived(entry, at) {
      entry.cancelGotAt = at;
      waiting.delete(entry.transactionId);
    },
    excuse(deviceId) {
      excused.add(deviceId);
      forgetOf(deviceId);
    },
    moved(deviceId, at) {
      movedAt.set(deviceId, at);
      forgetOf(deviceId);
    },
    owed: () =>
      [...waiting.values()]
        // A device that has answered after all needs no cancel any more.
        .filter(({ entry }) => entry.answeredAt === null)
        .map(({ entry: { transactionId, deviceId }, since }) => ({ transactionId, deviceId, since })),
    forget: (transactionId) => void waiting.delete(transactionId),
  };
}
