import type { Sql } from '../../platform/database/sql.ts';
import { daysInMicros, type Sweep } from '../../platform/database/sweep.ts';
import * as repository from './transaction-repository.ts';

interface Parts {
  /** After their end; 0 for ever. */
  keptDays: number;
  /** Transactions whose webhooks are pending, of those that were made before a time. */
  pendingBefore(sql: Sql, before: number): Promise<number[]>;
}

// Microseconds: a webhook is recorded in the unit of work that ends its transaction, a moment after it.
const MOMENT = 60_000_000;

/**
 * Finished transactions that nobody has to hear of any more: neither their device (of the cancel) nor their application (by a
 * webhook that is pending). They are found along their identifiers, which rise with time: what is unfinished since long
 * ago is passed over on the way.
 */
export const transactionSweep = ({ keptDays, pendingBefore }: Parts): Sweep<number> => ({
  kind: 'transactions',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, before) {
    const pending = new Set(await pendingBefore(sql, before + MOMENT));
    let after = 0;
    for (;;) {
      const seen = await repository.lookOver(sql, after);
      if (!seen || seen.firstAt >= before) return;
      const ended = await repository.findEnded(sql, { after, upTo: seen.last, before });
      const found = ended.filter((transactionId) => !pending.has(transactionId));
      yield { found, oldestAt: found.length > 0 ? seen.firstAt : undefined };
      after = seen.last;
    }
  },
  remove: repository.removeEnded,
  oldestAt: async (sql) => (await repository.lookOver(sql, 0, 1))?.firstAt ?? null,
});
