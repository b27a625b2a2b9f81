import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Count } from './counts.ts';
import type { MemberState } from './rollout.ts';
import { bucketOf } from './times.ts';

/** The kinds of times: from the creation of a transaction to its delivery, and to its result. */
export type TimeKind = 'delivered' | 'result';

/** Changes the number of devices of a stage in a state. */
export async function addCount(
  unit: UnitOfWork,
  rolloutId: string,
  { stage, state, code, devices }: Count,
): Promise<void> {
  await unit.run(
    `INSERT INTO rollout_counts (rollout_id, stage, state, code, devices) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (rollout_id, stage, state, code) DO UPDATE SET devices = rollout_counts.devices + excluded.devices`,
    rolloutId,
    stage,
    state,
    code,
    devices,
  );
}

/** Moves a device of a stage from one state to another. */
export async function moveCount(
  unit: UnitOfWork,
  rolloutId: string,
  stage: number,
  from: { state: MemberState; code: string | null },
  to: { state: MemberState; code: string | null },
): Promise<void> {
  await addCount(unit, rolloutId, { stage, state: from.state, code: from.code ?? '', devices: -1 });
  await addCount(unit, rolloutId, { stage, state: to.state, code: to.code ?? '', devices: 1 });
}

export const findCounts = (sql: Sql, rolloutId: string): Promise<Count[]> =>
  sql.all<Count>(
    'SELECT stage, state, code, devices FROM rollout_counts WHERE rollout_id = ? AND devices <> 0 ORDER BY stage, state, code',
    rolloutId,
  );

/** Counts a time, in microseconds. */
export async function addTime(unit: UnitOfWork, rolloutId: string, kind: TimeKind, micros: number): Promise<void> {
  await unit.run(
    `INSERT INTO rollout_times (rollout_id, kind, bucket, devices) VALUES (?, ?, ?, 1)
     ON CONFLICT (rollout_id, kind, bucket) DO UPDATE SET devices = rollout_times.devices + 1`,
    rolloutId,
    kind,
    bucketOf(micros),
  );
}

export const findTimes = (
  sql: Sql,
  rolloutId: string,
): Promise<{ kind: TimeKind; bucket: number; devices: number }[]> =>
  sql.all('SELECT kind, bucket, devices FROM rollout_times WHERE rollout_id = ? ORDER BY kind, bucket', rolloutId);
