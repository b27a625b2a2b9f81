import { keptFor, type Sweep } from '../database/sweep.ts';
import { findOldEntries, findOldestEntry, removeEntry } from './audit-repository.ts';

/** Days: a year, and what it takes to look back at it. */
const KEPT = 400;

/** What was changed long ago. */
export const auditSweep = (): Sweep<number> => ({
  kind: 'audit_log',
  keptFor: keptFor(KEPT),
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
