import { DomainError, type ErrorCode } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { createAutomaticRevert } from '../../src/core/rollouts/automatic-revert.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { storeRollout } from './stored-rollout.ts';

t.test('a revert by the service is tried again after errors that pass, and given up after others', async (t) => {
  for (const [code, written] of [
    ['OVERLOADED', []],
    ['TOO_MANY_ROLLOUTS', []],
    ['DATABASE_UNAVAILABLE', []],
    ['OBJECT_STORE_UNAVAILABLE', []],
    ['NOTHING_TO_REVERT', ['revertFailed NOTHING_TO_REVERT']],
  ] as const) {
    const { database } = openTestDatabase(t);
    const rollout = await storeRollout(database, 'rol_1', {
      deviceIds: [],
      state: 'paused',
      reason: 'HEALTH_RULE',
      plan: { revert: 'automatic' },
    });
    const events: string[] = [];
    const { bringBack } = createAutomaticRevert({
      database,
      revert: async () => Promise.reject(new DomainError(code satisfies ErrorCode)),
      transitions: {
        async write(_unit, changed, event, { reason }) {
          events.push(`${event} ${reason}`);
          t.notOk('revert' in changed.plan, 'it is not tried again');
          return changed;
        },
      },
    });
    if (written.length === 0) await t.rejects(bringBack(rollout), { code });
    else await bringBack(rollout);
    t.same(events, written, code);
  }
});
