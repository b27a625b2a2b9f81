import type { Look } from '../promises/looks.ts';
import type { createContentBook } from './content-book.ts';
import { differences } from './differences.ts';
import type { Entry } from './entry.ts';
import type { RolledOut, RolloutBook } from './rollout-entries.ts';
import type { createScopedCounts } from './scopes.ts';
import type { createTransactionBooks } from './transaction-books.ts';
import type { createTroubleBook } from './trouble-book.ts';

/** The name under which transactions of rollouts count, as those of an action do. */
export const OF_ROLLOUTS = 'rollout';

export function createRolloutBook({
  books,
  scoped,
  take,
  wrong,
  trouble,
  look,
}: {
  books: ReturnType<typeof createTransactionBooks>;
  scoped: Pick<ReturnType<typeof createScopedCounts>, 'of'>;
  /** Enters a transaction of a device whose request is known now. */
  take: (entry: Entry, deviceId: string, at: number) => void;
  wrong: ReturnType<typeof createContentBook>['wrong'];
  trouble: ReturnType<typeof createTroubleBook>['trouble'];
  look: Look;
}): RolloutBook & {
  /** The webhook of a transaction without a known request has arrived. True if a rollout has made the transaction. */
  claims(entry: Entry, at: number): boolean;
  /** Whether commands of a rollout may supersede others. */
  supersede(rolloutId: string | null): boolean;
  /** Compares the rollout of a transaction (null: a request made it) with the one that its webhook or a list names. */
  compare(entry: Entry, wanted: string | null, found: string | null, at: number): void;
} {
  const { early, find, finished, makeRoom } = books;
  const rollouts = new Map<string, RolledOut & { readonly transactions: Map<number, Entry> }>();

  let hasSuperseding = false;

  function enter(entry: Entry, deviceId: string, rolloutId: string, at: number): void {
    const rollout = rollouts.get(rolloutId);
    if (!rollout) return;
    const { phase, asked, transactions } = rollout;
    transactions.set(entry.transactionId, entry);
    Object.assign(entry, { operation: OF_ROLLOUTS, phase, asked, rolloutId });
    take(entry, deviceId, at);
  }

  /** Enters the transaction of a webhook that names a known rollout. */
  function claims(entry: Entry, at: number): boolean {
    const rolloutId = entry.result?.rolloutId ?? null;
    if (entry.phase !== null || rolloutId === null || !rollouts.has(rolloutId)) return false;
    enter(entry, entry.deviceId, rolloutId, at);
    return true;
  }

  function compare(entry: Entry, wanted: string | null, found: string | null, at: number): void {
    const { transactionId, deviceId, phase } = entry;
    const text = `the webhook of transaction ${transactionId}`;
    if (wanted !== null) look('rollout-named');
    wrong(
      { text, deviceId, transactionId, ...(phase !== null && { phase }) },
      differences('rolloutId', wanted, found),
      at,
    );
  }

  return {
    claims,
    compare,
    // A newer rollout ends the commands of an older one that nobody has confirmed.
    supersede: (rolloutId) => (rolloutId !== null && rollouts.size > 1) || hasSuperseding,
    rolloutSupersedes(): void {
      hasSuperseding = true;
    },
    rolledOut(rollout, at) {
      rollouts.set(rollout.rolloutId, { ...rollout, transactions: new Map() });
      makeRoom(rollout.devices);
      const { rolloutId, phase } = rollout;
      scoped.of(phase, { deviceId: '', operation: OF_ROLLOUTS }).add('rollouts');
      // Entries leave the Map while it is read, which a Map allows.
      for (const entry of early.values()) if (entry.result?.rolloutId === rolloutId) claims(entry, at);
    },

    adopt({ rolloutId, transactionId, deviceId }, at) {
      const known = find(transactionId);
      if (known?.phase === null || !known) {
        if (!known && finished.of(transactionId) !== undefined) return; // it is finished and forgotten
        const entry = books.meet(transactionId, deviceId, at);
        if (entry) enter(entry, deviceId, rolloutId, at);
      } else compare(known, known.rolloutId, rolloutId, at);
    },

    transactionsOf: (rolloutId) => rollouts.get(rolloutId)?.transactions ?? new Map(),

    takenBack(transactionId) {
      const entry = books.open.get(transactionId);
      if (!entry || entry.rolloutId === null || entry.phase === null) return;
      books.close(entry);
      rollouts.get(entry.rolloutId)?.transactions.delete(transactionId);
      const counts = scoped.of(entry.phase, entry);
      counts.add('requests', -1);
      counts.add('accepted', -1);
    },

    breach({ deviceId, transactionId, phase }, text, at) {
      scoped.of(phase, { deviceId, operation: OF_ROLLOUTS }).add('violations');
      const entry = transactionId === undefined ? undefined : find(transactionId);
      trouble('violation', phase, text, at, entry, deviceId);
    },

    rolloutEnded({ phase, state, stages, plannedStages, devices, spared, overshoot }, at) {
      const count = (deviceId = '') => scoped.of(phase, { deviceId, operation: OF_ROLLOUTS });
      count().addTo('rolloutStates', state);
      count().add('stages', stages);
      count().add('plannedStages', plannedStages);
      for (const deviceId of devices) count(deviceId).add('rolloutDevices');
      for (const deviceId of spared) count(deviceId).add('spared');
      for (const { deviceId, transactionId, text } of overshoot) {
        count(deviceId).add('overshoot');
        trouble('overshoot', phase, text, at, find(transactionId), deviceId);
      }
    },
  };
}
