import type { Told } from '../closed-loop.ts';
import { startFloor } from '../floor-target.ts';
import { startLapel } from '../lapel-target.ts';
import type { KillableTarget, RunningTarget } from '../running-target.ts';
import { PEERS, type PeerName, startPeerTarget } from './peer-target.ts';

/** The service and the floor by their names in the tables. */
const FLOOR = 'floor';
export const LAPEL = { sqlite: 'Lapel on SQLite', postgres: 'Lapel on PostgreSQL' } as const;

interface Options {
  devices: number;
  onTold?: (told: Told) => void;
}
type StartKillable = (options: Options) => Promise<KillableTarget>;

/** Everything that has promises to keep, by its name in the tables. */
export function killableTargets(peers: readonly PeerName[]): Record<string, StartKillable> {
  const starts: Record<string, StartKillable> = {
    [LAPEL.sqlite]: (options) => startLapel(options),
    [LAPEL.postgres]: (options) => startLapel({ ...options, nodes: 1 }),
  };
  for (const name of peers) starts[PEERS[name].title] = (options) => startPeerTarget(name, options);
  return starts;
}

/** Everything whose loops are measured, by its name in the tables. */
export const measuredTargets = (
  peers: readonly PeerName[],
): Record<string, (options: Options) => Promise<RunningTarget>> => ({
  [FLOOR]: startFloor,
  ...killableTargets(peers),
});
