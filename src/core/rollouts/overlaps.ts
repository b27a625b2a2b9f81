import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql } from '../../platform/database/sql.ts';
import type { Rollout } from './rollout.ts';
import { findAtWorkOf, findRollout } from './rollout-repository.ts';

/** The most rollouts whose devices are compared with those of a new one, the newest first. */
const MOST_COMPARED = 10;

/** Another rollout at work that changes the same thing on some of the devices. */
export interface Overlap {
  rolloutId: string;
  label: string | null;
  state: Rollout['state'];
  /** The number of devices that both have, and that have no final result in the other one. */
  devices: number;
}

type Kind = Pick<Rollout, 'operation' | 'subject'>;

/** The package of an installation; empty for all others, of which there is one for each device. */
const packageOf = ({ operation, subject }: Kind): string =>
  operation === 'installSoftware' ? (subject ?? '').split('@', 1)[0]! : '';

/** Whether two rollouts change the same: the same package, the firmware, or the same setting. */
export const isSameKind = (one: Kind, other: Kind): boolean =>
  one.operation === other.operation && packageOf(one) === packageOf(other);

/** Finds the rollouts of an application at work that change the same on some of the devices. */
export async function findOverlaps(
  sql: Sql,
  wanted: Kind & Pick<Rollout, 'applicationId'>,
  deviceIds: readonly string[],
): Promise<Overlap[]> {
  const found: Overlap[] = [];
  let compared = 0;
  for (const rolloutId of (await findAtWorkOf(sql, wanted.applicationId)).toReversed()) {
    if (compared === MOST_COMPARED) break;
    const rollout = await findRollout(sql, rolloutId);
    if (!rollout || rollout.state === 'preparing' || rollout.endedAt !== null || !isSameKind(rollout, wanted)) continue;
    compared += 1;
    const { label, state } = rollout;
    const devices = await countOpen(sql, rolloutId, deviceIds);
    if (devices > 0) found.push({ rolloutId, label, state, devices });
  }
  return found;
}

/** Counts those of the devices that wait for a command of a rollout, or for its result. */
async function countOpen(sql: Sql, rolloutId: string, deviceIds: readonly string[]): Promise<number> {
  let sum = 0;
  for (const list of inLists(deviceIds)) {
    const row = await sql.get<{ devices: number }>(
      `SELECT COUNT(*) AS devices FROM rollout_members WHERE rollout_id = ?
       AND state IN ('waiting', 'unfinished', 'confirming') AND device_id IN ${IN_LIST}`,
      rolloutId,
      ...list,
    );
    sum += Number(row?.devices ?? 0);
  }
  return sum;
}
