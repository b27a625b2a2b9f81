import { daysInMicros, ROWS_PER_READ, type Sweep } from '../../platform/database/sweep.ts';
import { findMembers, removeMemberOfEnded } from './member-repository.ts';
import { findEndedBefore, findRollout, oldestEnd, removeRollout } from './rollout-repository.ts';

/** A device of an ended rollout; without a device, the rollout itself, when its devices are removed. */
interface Expired {
  rolloutId: string;
  deviceId?: string;
}

/** Removes rollouts that have ended: their devices one after another, then the rollout. `keptDays`: 0 for ever. */
export const rolloutSweep = ({ keptDays }: { keptDays: number }): Sweep<Expired> => ({
  kind: 'rollouts',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, before) {
    for (const { rolloutId, endedAt } of await findEndedBefore(sql, before, ROWS_PER_READ)) {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const members: { deviceId: string }[] = await findMembers(sql, rolloutId, after, ROWS_PER_READ);
        yield { found: members.map(({ deviceId }) => ({ rolloutId, deviceId })), oldestAt: endedAt };
        after = members.length < ROWS_PER_READ ? undefined : members.at(-1)?.deviceId;
      }
      yield { found: [{ rolloutId }], oldestAt: endedAt };
    }
  },
  async remove(unit, { rolloutId, deviceId }, before) {
    if (deviceId !== undefined) return removeMemberOfEnded(unit, rolloutId, deviceId, before);
    const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
    if (!rollout || rollout.endedAt === null || rollout.endedAt >= before) return 0;
    await removeRollout(unit, rolloutId);
    return 1;
  },
  oldestAt: oldestEnd,
});
