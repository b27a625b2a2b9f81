import { daysInMicros, type Sweep } from '../../platform/database/sweep.ts';
import { findOldEntries, findOldestEntry, removeEntry } from './audit-repository.ts';
import { cutChain, findChain, findOldSealed } from './chain-repository.ts';

/** An entry that is not part of the chain; or a piece of the chain, from its beginning up to a position. */
type Found = { auditId: number } | { upTo: number };

/**
 * Removes audit entries that are older than `keptDays` (LAPEL_AUDIT_RETENTION_DAYS): entries of earlier releases one by
 * one, sealed ones from the beginning of the chain only, in pieces. The hash of the last removed entry is kept, so that
 * the rest can still be checked.
 */
export const auditSweep = ({ keptDays }: { keptDays: number }): Sweep<Found> => ({
  kind: 'audit_log',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, before) {
    for (let after = 0; ; ) {
      const old = await findOldEntries(sql, after, before);
      const [first] = old;
      const last = old.at(-1);
      if (!first || !last) break;
      yield { found: old.map(({ auditId }) => ({ auditId })), oldestAt: first.at };
      after = last.auditId;
    }
    for (let after = (await findChain(sql))?.cutPosition ?? 0; ; ) {
      const old = await findOldSealed(sql, after, before);
      const [first] = old;
      const last = old.at(-1);
      if (!first || !last) return;
      yield { found: [{ upTo: last.position }], oldestAt: first.at };
      after = last.position;
    }
  },
  remove: (unit, found) => ('upTo' in found ? cutChain(unit, found.upTo) : removeEntry(unit, found.auditId)),
  oldestAt: findOldestEntry,
});
