import { ROWS_PER_READ, type Sweep } from '../../../platform/database/sweep.ts';
import { deleteUnused, findUnused } from './session-repository.ts';
import { SESSION_IDLE } from './sessions.ts';

/**
 * Deletes ended sessions. A session also ends when it is too old or when the administrator token changes. It is then no
 * longer used, so the time of the last use is enough to find all ended sessions.
 */
export const sessionSweep = (): Sweep<{ sessionId: string }> => ({
  kind: 'console_sessions',
  keptForMicros: SESSION_IDLE,
  async *find(sql, before) {
    for (let left = true; left; ) {
      const found = await findUnused(sql, before, ROWS_PER_READ);
      yield { found, oldestAt: found[0]?.lastUsedAt };
      left = found.length === ROWS_PER_READ;
    }
  },
  remove: (unit, { sessionId }, before) => deleteUnused(unit, sessionId, before),
  oldestAt: async (sql) => (await findUnused(sql, Number.MAX_SAFE_INTEGER, 1))[0]?.lastUsedAt ?? null,
});
