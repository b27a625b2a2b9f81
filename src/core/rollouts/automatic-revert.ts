import { DomainError, isPassing } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import { termsOfRevert } from '../transactions/terms.ts';
import type { createReverting } from './reverting.ts';
import { type PauseReason, type Rollout, revertsItself } from './rollout.ts';
import { findRollout } from './rollout-repository.ts';
import type { Transitions } from './transitions.ts';

const BY_SERVICE = { actor: 'service' } as const;

interface Parts {
  database: Pick<Database, 'transact'>;
  revert: ReturnType<typeof createReverting>['revert'];
  transitions: Pick<Transitions, 'write'>;
}

/** Makes the functions that bring devices back when a health rule has stopped their rollout. */
export function createAutomaticRevert({ database, revert, transitions }: Parts) {
  /**
   * Leaves it to people to bring the devices of a rollout back; the history says why. If somebody has decided otherwise since
   * the rollout was read, nothing is done.
   */
  const leave = ({ rolloutId, entries }: Rollout, reason: PauseReason): Promise<void> =>
    database.transact(async (unit) => {
      const current = await findRollout(unit, rolloutId, unit.forUpdate);
      if (!current || current.entries !== entries || !revertsItself(current)) return;
      const { revert: _, ...plan } = current.plan;
      await transitions.write(unit, { ...current, plan }, 'revertFailed', { ...BY_SERVICE, reason });
    });

  return {
    leave,

    /**
     * Reverts a rollout that a health rule has stopped. If that cannot be, because no version brings the devices back, it
     * stays paused. If somebody has decided otherwise meanwhile, nothing is done.
     */
    async bringBack(rollout: Rollout): Promise<void> {
      const { developerId, terms } = rollout.plan;
      try {
        await revert(rollout, { developerId, failed: false, terms: termsOfRevert(terms) }, BY_SERVICE);
      } catch (error) {
        // Others of the application end, so there is room later.
        const passes = isPassing(error) || (error instanceof DomainError && error.code === 'TOO_MANY_ROLLOUTS');
        if (!(error instanceof DomainError) || passes) throw error;
        await leave(rollout, error.code);
      }
    },
  };
}
