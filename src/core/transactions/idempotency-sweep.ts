import { ROWS_PER_LOOK, type Sweep } from '../../platform/database/sweep.ts';
import { LIFETIME } from './idempotency.ts';
import { findOldAnswers, type KeyName, removeOldAnswer } from './idempotency-repository.ts';

/** Answers whose time is over. Each key that comes takes two of them along; these are left when few come. */
export const idempotencySweep = (): Sweep<KeyName> => ({
  kind: 'idempotency_keys',
  keptForMicros: LIFETIME,
  async *find(sql, before) {
    for (let left = true; left; ) {
      const found = await findOldAnswers(sql, before, ROWS_PER_LOOK);
      yield { found, oldestAt: found[0]?.createdAt };
      left = found.length === ROWS_PER_LOOK;
    }
  },
  remove: removeOldAnswer,
  oldestAt: async (sql) => (await findOldAnswers(sql, Number.MAX_SAFE_INTEGER, 1))[0]?.createdAt ?? null,
});
