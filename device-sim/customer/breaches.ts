import type { BreachFigure, Ledger, Trouble } from './ledger.ts';
import type { createScopedCounts } from './scopes.ts';
import type { createTransactionBooks } from './transaction-books.ts';
import type { createTroubleBook } from './trouble-book.ts';

/** The kind of the faults that each figure counts. */
const KINDS = {
  violations: 'violation',
  order: 'order',
  gaps: 'gap',
  programs: 'customer',
} as const satisfies Record<BreachFigure, Trouble['kind']>;

interface Parts {
  readonly of: ReturnType<typeof createScopedCounts>['of'];
  readonly find: ReturnType<typeof createTransactionBooks>['find'];
  readonly trouble: ReturnType<typeof createTroubleBook>['trouble'];
  /** The present phase. */
  readonly phase: () => string;
}

/** Counts what parts of the run have noticed that keep books of their own, and keeps its story. */
export function createBreaches({
  of,
  find,
  trouble,
  phase: current,
}: Parts): Pick<Ledger, 'breached' | 'violated' | 'counted' | 'presentPhase'> {
  const breached: Ledger['breached'] = (
    figure,
    { deviceId, transactionId, phase = current() },
    text,
    at,
    before = [],
  ) => {
    const entry = transactionId === undefined ? undefined : find(transactionId);
    if (figure !== 'programs') of(phase, entry ?? { deviceId }).add(figure);
    trouble(KINDS[figure], phase, text, at, entry, deviceId, before);
  };
  return {
    presentPhase: current,
    breached,
    violated: (about, text, at) => breached('violations', about, text, at),
    counted: (figure, deviceId, phase = current()) => of(phase, { deviceId }).add(figure),
  };
}
