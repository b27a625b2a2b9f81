import { ROWS_PER_READ, type Sweep } from '../../platform/database/sweep.ts';
import { findOldRequests, type RequestKey, removeRequest } from './request-repository.ts';

/** Microseconds that a request waits for its device to come back; after a day the device has to ask anew. */
const KEPT_FOR_MICROS = 24 * 3600 * 1_000_000;

/** Removes old requests, finished or not. (A device's next request already removes its finished ones.) */
export const requestSweep = (): Sweep<RequestKey> => ({
  kind: 'device_requests',
  keptForMicros: KEPT_FOR_MICROS,
  async *find(sql, before) {
    for (let left = true; left; ) {
      const found = await findOldRequests(sql, before, ROWS_PER_READ);
      yield { found, oldestAt: found[0]?.receivedAt };
      left = found.length === ROWS_PER_READ;
    }
  },
  remove: removeRequest,
  oldestAt: async (sql) => (await findOldRequests(sql, Number.MAX_SAFE_INTEGER, 1))[0]?.receivedAt ?? null,
});
