import { crc32 } from 'node:zlib';
import type { Device } from '../model/device.ts';
import type { Conditions, ConditionsNow } from '../mqtt/conditions.ts';
import { createMedium, type Medium } from '../mqtt/medium.ts';
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
  processes,
  timers,
}: {
  members: readonly FleetMember[];
  seed: number;
  /** How many processes share the fleet, and so the access points. */
  processes: number;
  timers: Timers;
}): Networks {
  let playing: ReadonlyMap<string, BadNetwork> = new Map();
  let ends: (() => void)[] = [];

  const networkOf = ({ settings: { group, network = null } }: FleetMember): BadNetwork | null =>
    playing.get(group) ?? network;

  /** The access points that groups share: each with its medium, and the conditions of its present network. */
  const shared = new Map<string, { readonly medium: Medium; network?: BadNetwork; conditions?: Conditions }>();

  /** The conditions at the access point of a group. Each process has its part of the bandwidth. */
  function sharedBy(group: string, network: BadNetwork): Conditions {
    const point = shared.get(group) ?? { medium: createMedium() };
    shared.set(group, point);
    if (point.conditions && point.network === network) return point.conditions;
    const { delay, bytesPerSecond } = network;
    point.network = network;
    point.conditions = {
      delay,
      bytesPerSecond: bytesPerSecond === null ? null : bytesPerSecond / processes,
      medium: point.medium,
    };
    return point.conditions;
  }

  function stop(): void {
    for (const end of ends) end();
    ends = [];
  }

  return {
    conditionsOf(member) {
      const { group, isShared = false } = member.settings;
      if (!isShared) return () => networkOf(member);
      return () => {
        const network = networkOf(member);
        return network && sharedBy(group, network);
      };
    },
    play(networks, devices, occasion) {
      stop();
      playing = networks;
      ends = members.flatMap((member, at) => {
        const perHour = networkOf(member)?.losses ?? 0;
        if (perHour <= 0) return [];
        // Devices of one access point have the same times.
        const { group, isShared = false } = member.settings;
        const own = isShared ? [crc32(group), 13] : [member.place, 10];
        const number = (n: number): number => deriveSeed(seed, ...own, occasion, n) / 2 ** 32;
        return [scheduleHappenings({ perHour, number, timers, happen: () => devices[at]?.loseConnection() })];
      });
    },
    stop,
  };
}
