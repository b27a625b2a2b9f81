import type { RolloutDetails } from '@lapel/schemas/contracts/types';
import { byState, type Count } from '../core/rollouts/counts.ts';
import { countHeard, countInstalling, findUnheard } from '../core/rollouts/in-work-repository.ts';
import type { Sql } from '../platform/database/sql.ts';

type InWork = RolloutDetails['inWork'];

/** The devices whose newest sign of life is looked up in memory, since it is stored later. Others count as it is stored. */
const MOST_LOOKED_UP = 500;

export interface SignsOfLife {
  presence: { newerThanStored(deviceId: string): number | undefined };
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
}

/** Tells the unfinished devices of a rollout apart, by stage: those that carry the command out, and those that are away. */
export async function inWork(
  sql: Sql,
  { presence, connected }: SignsOfLife,
  rolloutId: string,
  counts: readonly Count[],
): Promise<(stage?: number) => InWork> {
  if (byState(counts).unfinished === 0) return () => ({ installing: 0, switchedOff: 0, queued: 0 });
  const [installing, heard] = [await countInstalling(sql, rolloutId), await countHeard(sql, rolloutId)];
  const unheard = await findUnheard(sql, rolloutId, MOST_LOOKED_UP);
  const isConnected = await connected(unheard.map(({ deviceId }) => deviceId));
  const queued = unheard.filter(
    ({ deviceId, createdAt }) => isConnected.has(deviceId) || (presence.newerThanStored(deviceId) ?? 0) >= createdAt,
  );
  const sum = (rows: readonly { stage: number; devices?: number }[], stage: number | undefined): number =>
    rows.filter((row) => stage === undefined || row.stage === stage).reduce((all, { devices = 1 }) => all + devices, 0);
  return (stage) => {
    const { unfinished } = byState(counts, stage);
    // A device can get its command between two statements.
    const at = Math.min(unfinished, sum(installing, stage));
    const waits = Math.min(unfinished - at, sum(heard, stage) + sum(queued, stage));
    return { installing: at, switchedOff: unfinished - at - waits, queued: waits };
  };
}
