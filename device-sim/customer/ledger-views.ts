import type { createDeviceBooks } from './device-books.ts';
import type { Entry } from './entry.ts';
import type { Examples } from './examples.ts';
import type { Ledger } from './ledger.ts';
import type { createScopedCounts } from './scopes.ts';
import { tell } from './story.ts';
import type { createTransactionBooks } from './transaction-books.ts';
import type { createTroubleBook } from './trouble-book.ts';

/** How many finished transactions of a device the report tells about, besides the unfinished ones. */
const STORY_DEPTH = 3;

interface Books {
  /** The start of the run. */
  readonly began: number;
  readonly books: ReturnType<typeof createTransactionBooks>;
  readonly devices: ReturnType<typeof createDeviceBooks>;
  readonly examples: Examples;
  readonly scoped: ReturnType<typeof createScopedCounts>;
  readonly storyOf: ReturnType<typeof createTroubleBook>['storyOf'];
}

/** Reads the books of the ledger for reports: figures, stories and examples. */
export function createLedgerViews({
  began,
  books,
  devices,
  examples,
  scoped,
  storyOf,
}: Books): Pick<Ledger, 'figures' | 'story' | 'example' | 'isIn'> {
  const { open, early, done, find } = books;
  return {
    figures(phase, scope = {}) {
      const figures = scoped.figures(phase, scope);
      for (const entry of open.values()) {
        if ((phase === undefined || entry.phase === phase) && !entry.lost && scoped.isIn(entry, scope))
          figures.unfinished += 1;
      }
      if (phase !== undefined) return figures;
      figures.unasked = books.strangers;
      for (const entry of early.values()) if (entry.result) figures.unasked += 1;
      return figures;
    },

    story(wanted) {
      const entry = 'transactionId' in wanted ? find(wanted.transactionId) : undefined;
      if (entry) return storyOf(entry);
      if ('transactionId' in wanted) return [];
      const { deviceId } = wanted;
      const last = [...done.values()].filter((one) => one.deviceId === deviceId).slice(-STORY_DEPTH);
      const device = devices.known(deviceId);
      const unfinished = (device?.open ?? []).flatMap((transactionId) => open.get(transactionId) ?? []);
      return tell(began, [...last, ...unfinished], device?.notes ?? []);
    },
    example(kind, phase, scope = {}, stage = 'delivered') {
      const isMeant = (entry: Entry): boolean =>
        (phase === undefined || entry.phase === phase) && scoped.isIn(entry, scope);
      const all = {
        unfinished: () => [...open.values()].find(isMeant),
        failed: () => examples.first('failed', isMeant),
        cancelled: () => examples.first('cancelled', isMeant),
        slowest: () => examples.slowest(stage, isMeant),
      };
      const entry = all[kind]();
      return entry ? storyOf(entry) : [];
    },
    isIn: ({ deviceId, transactionId }, scope) =>
      scoped.isIn({ deviceId, ...(transactionId === null ? {} : find(transactionId)) }, scope),
  };
}
