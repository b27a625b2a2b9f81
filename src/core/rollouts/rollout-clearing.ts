import type { UnitOfWork } from '../../platform/database/sql.ts';
import { type Clearing, leavingApplications, pagesBy } from '../applications/clearing.ts';
import { forgetWatches } from './health/watch-repository.ts';
import { findMembers, removeMembers } from './member-repository.ts';
import { findRollout, removeRollout } from './rollout-repository.ts';

/** Devices of a rollout that are removed together. */
const AT_ONCE = 100;

/** A rollout; `devices`: some of its devices are removed, and not yet the rollout. */
interface Part {
  rolloutId: string;
  devices: boolean;
}

/** Removes the rollouts of a customer: the devices of each, a few at a time, then the rollout. */
export const rolloutClearing = (): Clearing<Part> => ({
  kind: 'rollouts',
  async *find(sql, leaver) {
    for await (const applicationId of leavingApplications(sql, leaver)) {
      const pages = pagesBy<{ rolloutId: string }, string>(
        '',
        (row) => row.rolloutId,
        (after, limit) =>
          sql.all<{ rolloutId: string }>(
            `SELECT rollout_id AS "rolloutId" FROM rollouts WHERE application_id = ? AND rollout_id > ?
           ORDER BY rollout_id LIMIT ?`,
            applicationId,
            after,
            limit,
          ),
      );
      for await (const page of pages)
        for (const { rolloutId } of page) {
          while ((await findMembers(sql, rolloutId, '', 1)).length > 0) yield [{ rolloutId, devices: true }];
          yield [{ rolloutId, devices: false }];
        }
    }
  },
  async remove(unit: UnitOfWork, { rolloutId, devices }) {
    if (devices) {
      await removeMembers(unit, rolloutId, AT_ONCE);
      await forgetWatches(unit, rolloutId, AT_ONCE);
      return {};
    }
    // Locked, because devices may still be added to a rollout that is being made; then they are found the next time.
    if (!(await findRollout(unit, rolloutId, unit.forUpdate))) return {};
    if (await findMembersLeft(unit, rolloutId)) return {};
    await removeRollout(unit, rolloutId);
    return { rollouts: 1 };
  },
  alone: () => undefined,
});

const findMembersLeft = async (unit: UnitOfWork, rolloutId: string): Promise<boolean> =>
  (await findMembers(unit, rolloutId, '', 1)).length > 0;
