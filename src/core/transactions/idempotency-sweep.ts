import { ROWS_PER_READ, type Sweep } from '../../platform/database/sweep.ts';
import { LIFETIME_MICROS } from './idempotency.ts';
import { findOldAnswers, type KeyName, removeOldAnswer } from './idempotency-repository.ts';

/**
 * Removes expired answers. Each new key already removes two of them; this sweep removes the others when few new keys
 * come.
 */
export const idempotencySweep = (): Sweep<KeyName> => ({
  kind: 'idempotency_keys',
  keptForMicros: LIFETIME_MICROS,
  async *find(sql, before) {
    for (let left = true; left; ) {
      const found = await findOldAnswers(sql, before, ROWS_PER_READ);
      yield { found, oldestAt: found[0]?.createdAt };
      left = found.length === ROWS_PER_READ;
    }
  },
  remove: removeOldAnswer,
  oldestAt: async (sql) => (await findOldAnswers(sql, Number.MAX_SAFE_INTEGER, 1))[0]?.createdAt ?? null,
});
