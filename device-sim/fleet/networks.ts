import type { Device } from '../model/device.ts';
import type { ConditionsNow } from '../mqtt/conditions.ts';
import { deriveSeed } from '../random.ts';
import type { Timers } from '../timers.ts';
import type { BadNetwork } from './bad-network.ts';
import type { FleetMember } from './member.ts';
import { scheduleHappenings } from './scheduled-events.ts';

/** The networks of a fleet, by group. */
export interface Networks {
  /** The conditions of a group at any moment. */
  conditionsOf(member: FleetMember): ConditionsNow;
  /** From now on these groups have these networks, and all others their own. `occasion` names the random numbers. */
  play(networks: ReadonlyMap<string, BadNetwork>, devices: readonly Device[], occasion: number): void;
  /** No connection is lost from now on. */
  stop(): void;
}

export function createNetworks({
  members,
  seed,
  timers,
}: {
  members: readonly FleetMember[];
  seed: number;
  timers: Timers;
}): Networks {
  let playing: ReadonlyMap<string, BadNetwork> = new Map();
  let ends: (() => void)[] = [];

  const networkOf = ({ settings: { group, network = null } }: FleetMember): BadNetwork | null =>
    playing.get(group) ?? network;

  function stop(): void {
    for (const end of ends) end();
    ends = [];
  }

  return {
    conditionsOf: (member) => () => networkOf(member),
    play(networks, devices, occasion) {
      stop();
      playing = networks;
      ends = members.flatMap((member, at) => {
        const perHour = networkOf(member)?.losses ?? 0;
        if (perHour <= 0) return [];
        const number = (n: number): number => deriveSeed(seed, member.place, 10, occasion, n) / 2 ** 32;
        return [scheduleHappenings({ perHour, number, timers, happen: () => devices[at]?.loseConnection() })];
      });
    },
    stop,
  };
}
