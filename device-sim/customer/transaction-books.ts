import { remember } from '../bounded-map.ts';
import type { DeviceBooks } from './device-books.ts';
import { type Entry, newEntry } from './entry.ts';
import { createIdMarks } from './id-marks.ts';

/** How many finished transactions are remembered with all their times. */
const DONE_KEPT = 20_000;
/** How many commands and results are remembered for transactions whose 201 was not seen yet. */
const EARLY_KEPT = 10_000;

/** The transactions of a ledger, by their ids: before the 201, without a result, and finished. */
export function createTransactionBooks({ book }: Pick<DeviceBooks, 'book'>) {
  const open = new Map<number, Entry>();
  const early = new Map<number, Entry>();
  const done = new Map<number, Entry>();
  /** The mark of the webhook that brought the result of each transaction. */
  const finished = createIdMarks();
  /** The transactions whose 201 was seen. */
  const acceptedIds = createIdMarks();
  let strangers = 0;

  /** Remembers a transaction whose 201 was not seen yet. */
  const expect = (entry: Entry): void => remember(early, entry.transactionId, entry, EARLY_KEPT);

  const find = (transactionId: number): Entry | undefined =>
    early.get(transactionId) ?? open.get(transactionId) ?? done.get(transactionId);

  /** The entry of a command or a result, which may arrive before the answer to its request. */
  function meet(transactionId: number, deviceId: string, at: number): Entry | undefined {
    const known = find(transactionId);
    if (known || finished.of(transactionId) !== undefined) return known;
    const entry = newEntry(transactionId, deviceId, at);
    if (early.size >= EARLY_KEPT && early.values().next().value?.result) strangers += 1;
    expect(entry);
    return entry;
  }

  /**
   * Replaces a known transaction by another one with the same id: from now on commands and results belong to the new
   * one.
   */
  function another(transactionId: number, deviceId: string, at: number): Entry {
    const entry = newEntry(transactionId, deviceId, at);
    entry.former = finished.of(transactionId) ?? 0;
    finished.set(transactionId, 0);
    done.delete(transactionId);
    return entry;
  }

  function close({ transactionId, deviceId }: Entry): void {
    open.delete(transactionId);
    const device = book(deviceId);
    device.open = device.open.filter((one) => one !== transactionId);
  }

  return {
    open,
    early,
    done,
    finished,
    acceptedIds,
    find,
    meet,
    another,
    close,
    expect,
    /** Remembers a finished transaction with all its times. */
    finish: (entry: Entry): void => remember(done, entry.transactionId, entry, DONE_KEPT),
    /** Results of transactions that were never accepted, and that are forgotten. */
    get strangers() {
      return strangers;
    },
  };
}
