import type { createDeviceBooks } from './device-books.ts';
import type { Entry } from './entry.ts';
import type { EventBook } from './event-book.ts';
import type { Ledger } from './ledger.ts';
import type { OwedCancels } from './owed-cancels.ts';
import type { createScopedCounts } from './scopes.ts';
import type { createTransactionBooks } from './transaction-books.ts';

interface Parts {
  readonly books: ReturnType<typeof createTransactionBooks>;
  readonly devices: ReturnType<typeof createDeviceBooks>;
  readonly events: Pick<EventBook, 'lost'>;
  readonly cancels: Pick<OwedCancels, 'forget'>;
  readonly of: ReturnType<typeof createScopedCounts>['of'];
  readonly sample: Ledger['sample'];
}

/**
 * Sets the books back after a restore of the service from a backup (docs/operations.md, "What is lost then"). What was
 * stored before the backup is owed as before. What was stored in the lost time may be gone: such a transaction needs no
 * result, and one that got its result then is unfinished again, and gets another result with another webhook-id.
 */
export function createLostTime({ books, devices, events, cancels, of, sample }: Parts) {
  const { open, early, done, finished } = books;

  /** Transactions whose records may be gone, or may have another result than their first webhook. */
  const unsure = new Set<number>();

  /** The service may not know this result: it is owed again, and the webhook that brought it may come again. */
  function reopen(entry: Entry): void {
    const { transactionId, deviceId, phase, result } = entry;
    if (!result) return;
    entry.former = finished.of(transactionId) ?? 0;
    entry.reopened = true;
    finished.set(transactionId, 0);
    cancels.forget(transactionId);
    // The device answers from its memory, and its first answer was compared with the first result.
    Object.assign(entry, { result: null, outcome: null, asked: null });
    if (phase === null) return;
    const counts = of(phase, entry);
    if (result.status === 'succeeded' || result.status === 'failed' || result.status === 'cancelled')
      counts.add(result.status, -1);
    if (result.status === 'failed' && result.code !== null) counts.addTo('failures', result.code, -1);
    done.delete(transactionId);
    open.set(transactionId, entry);
    devices.book(deviceId).open.push(transactionId);
  }

  function setBack(entry: Entry, from: number): void {
    const { acceptedAt, acknowledgedAt, cancelledAt, result } = entry;
    // A rollout is paused after a restore, and its commands are taken back.
    entry.mayBeGone = acceptedAt === null || acceptedAt >= from || entry.rolloutId !== null;
    entry.attempt = 0;
    if (entry.mayBeGone || (result && result.at >= from)) unsure.add(entry.transactionId);
    if (acknowledgedAt !== null && acknowledgedAt >= from) entry.acknowledgedAt = null;
    if (cancelledAt !== null && cancelledAt >= from) entry.cancelledAt = null;
    if (result && result.at >= from) reopen(entry);
  }

  return {
    /** The service has lost what it has stored since `from`. */
    restored(from: number): void {
      for (const entry of [...early.values(), ...open.values(), ...done.values()]) setBack(entry, from);
      // Old books are closed, and their results may still be compared.
      for (const { transactionId, at } of sample()) if (at >= from) unsure.add(transactionId);
      // Commands of before the backup come after those of the lost time.
      devices.setBack();
      events.lost(from);
    },
    /** The results whose records are certain. */
    sample: () => sample().filter(({ transactionId }) => !unsure.has(transactionId)),
    /** The service knows the transaction: it was stored before the backup after all. */
    stays(transactionId: number): void {
      const entry = open.get(transactionId);
      if (entry) entry.mayBeGone = false;
    },
    /** Forgets a transaction of the lost time, which the service does not know. */
    gone(transactionId: number): void {
      const entry = open.get(transactionId);
      if (!entry || entry.phase === null || !entry.mayBeGone) return;
      books.close(entry);
      const counts = of(entry.phase, entry);
      counts.add('requests', -1);
      counts.add('accepted', -1);
    },
  };
}
