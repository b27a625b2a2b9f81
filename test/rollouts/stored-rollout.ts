import { insertMembers } from '../../src/core/rollouts/member-repository.ts';
import type { Rollout } from '../../src/core/rollouts/rollout.ts';
import { insertRollout, updateRollout } from '../../src/core/rollouts/rollout-repository.ts';
import type { Database } from '../../src/platform/database/sql.ts';

/** Stores a running rollout with its devices, of which all are in its first stage. */
export async function storeRollout(
  database: Database,
  rolloutId: string,
  {
    deviceIds,
    plan,
    ...more
  }: { deviceIds: readonly string[]; plan?: Partial<Rollout['plan']> } & Partial<Omit<Rollout, 'plan'>>,
): Promise<Rollout> {
  const rollout: Rollout = {
    rolloutId,
    applicationId: 'app',
    label: null,
    operation: 'installSoftware',
    subject: 'a@1',
    plan: { developerId: 'dev', stages: [], terms: {}, ...plan },
    state: 'running',
    reason: null,
    publishes: true,
    drained: true,
    stage: -1,
    stageSince: null,
    shareSince: null,
    approved: -1,
    entries: 0,
    startedAt: 1,
    endedAt: null,
    devices: deviceIds.length,
    createdAt: 1,
    ...more,
  };
  await database.transact(async (unit) => {
    await insertRollout(unit, rollout, { asked: {}, selector: {} });
    await updateRollout(unit, rollout);
    const members = deviceIds.map((deviceId, place) => ({ deviceId, stage: 0, place }));
    await insertMembers(unit, rolloutId, members, 1);
  });
  return rollout;
}
