import { ROWS_PER_LOOK, type Sweep } from '../../platform/database/sweep.ts';
import { findOldRequests, type RequestKey, removeRequest } from './request-repository.ts';

/** Microseconds that a request waits for its device to come back: an upload that is a day late is begun anew. */
const KEPT_FOR = 24 * 3600 * 1_000_000;

/** Requests that are finished, or whose devices stayed away. A device that goes on asking takes its finished ones along. */
export const requestSweep = (): Sweep<RequestKey> => ({
  kind: 'device_requests',
  keptForMicros: KEPT_FOR,
  async *find(sql, before) {
    for (let left = true; left; ) {
      const found = await findOldRequests(sql, before, ROWS_PER_LOOK);
      yield { found, oldestAt: found[0]?.receivedAt };
      left = found.length === ROWS_PER_LOOK;
    }
  },
  remove: removeRequest,
  oldestAt: async (sql) => (await findOldRequests(sql, Number.MAX_SAFE_INTEGER, 1))[0]?.receivedAt ?? null,
});
