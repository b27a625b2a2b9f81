import { remember } from '../bounded-map.ts';
import type { DeviceBooks } from './device-books.ts';
import { type Entry, newEntry } from './entry.ts';
import { createIdMarks } from './id-marks.ts';

/** How many finished transactions are remembered with all their times. */
const DONE_KEPT = 20_000;
/** How many transactions are remembered of which a command or a result has arrived, and the 201 not yet. */
const EARLY_KEPT = 10_000;

/**
 * The transactions that the customer knows, by their ids: those whose 201 has not arrived (`early`), those without a
 * result (`open`), and the finished ones (`done`).
 */
export function createTransactionBooks({ book }: Pick<DeviceBooks, 'book'>) {
  const open = new Map<number, Entry>();
  const early = new Map<number, Entry>();
  const done = new Map<number, Entry>();
  /** For each finished transaction, a hash of the webhook-id that brought its result. */
  const finished = createIdMarks();
  /** The transactions whose 201 was seen. */
  const acceptedIds = createIdMarks();
  let strangers = 0;
  let room = EARLY_KEPT;

  /** Remembers a transaction whose 201 has not arrived. */
  const expect = (entry: Entry): void => remember(early, entry.transactionId, entry, room);

  const find = (transactionId: number): Entry | undefined =>
    early.get(transactionId) ?? open.get(transactionId) ?? done.get(transactionId);

  /**
   * Finds the entry of a command or a result, or makes one, because a command may arrive before the 201 of its request.
   * Undefined for a transaction that is finished and forgotten.
   */
  function meet(transactionId: number, deviceId: string, at: number): Entry | undefined {
    const known = find(transactionId);
    if (known || finished.of(transactionId) !== undefined) return known;
    const entry = newEntry(transactionId, deviceId, at);
    if (early.size >= room && early.values().next().value?.result) strangers += 1;
    expect(entry);
    return entry;
  }

  /**
   * Makes an entry for a new transaction that has the id of a known one. From now on commands and results with this id
   * belong to the new one.
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
    /** Remembers so many transactions more whose request is not known yet: those of a rollout have none. */
    makeRoom(more: number): void {
      room += more;
    },
    /** Remembers a finished transaction with all its times. */
    finish: (entry: Entry): void => remember(done, entry.transactionId, entry, DONE_KEPT),
    /**
     * The number of results whose transactions this run never requested, and whose entries were dropped to make room.
     */
    get strangers() {
      return strangers;
    },
  };
}
