import type { Sql } from '../../platform/database/sql.ts';
import { daysInMicros, type Sweep } from '../../platform/database/sweep.ts';
import * as repository from './transaction-repository.ts';

interface Parts {
  /** Days that a transaction is kept after its end; 0 for ever. */
  keptDays: number;
  /** Finds the transactions that were made before a time and whose webhooks are pending. */
  pendingBefore(sql: Sql, before: number): Promise<number[]>;
}

// A webhook is stored in the unit of work that ends its transaction, a moment later; a minute covers that.
const MOMENT_MICROS = 60_000_000;

/**
 * Removes old finished transactions that are not needed any more: neither for the device (a due cancel) nor for the
 * application (a pending webhook). They are found by their identifiers, which rise with time; old unfinished ones are skipped.
 */
export const transactionSweep = ({ keptDays, pendingBefore }: Parts): Sweep<number> => ({
  kind: 'transactions',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, before) {
    const pending = new Set(await pendingBefore(sql, before + MOMENT_MICROS));
    let after = 0;
    for (;;) {
      const seen = await repository.examineNext(sql, after);
      if (!seen || seen.firstAt >= before) return;
      const ended = await repository.findEnded(sql, { after, upTo: seen.last, before });
      const found = ended.filter((transactionId) => !pending.has(transactionId));
      yield { found, oldestAt: found.length > 0 ? seen.firstAt : undefined };
      after = seen.last;
    }
  },
  remove: repository.removeEnded,
  oldestAt: async (sql) => (await repository.examineNext(sql, 0, 1))?.firstAt ?? null,
});
