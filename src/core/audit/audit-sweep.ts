import { daysInMicros, type Sweep } from '../../platform/database/sweep.ts';
import { findOldEntries, findOldestEntry, removeEntry } from './audit-repository.ts';

/** Removes audit entries that are older than `keptDays` (LAPEL_AUDIT_RETENTION_DAYS). */
export const auditSweep = ({ keptDays }: { keptDays: number }): Sweep<number> => ({
  kind: 'audit_log',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, before) {
    for (let after = 0; ; ) {
      const old = await findOldEntries(sql, after, before);
      const [first] = old;
      const last = old.at(-1);
      if (!first || !last) return;
      yield { found: old.map(({ auditId }) => auditId), oldestAt: first.at };
      after = last.auditId;
    }
  },
  remove: removeEntry,
  oldestAt: findOldestEntry,
});
