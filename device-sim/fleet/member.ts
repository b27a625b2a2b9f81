import type { FaultRule } from '../faults/fault.ts';
import type { Behaviour } from '../model/behaviour.ts';
import type { Equipment } from '../model/device-state.ts';
import { OLD_FIRMWARE } from '../model/firmware-versions.ts';
import type { Certificate } from '../mqtt/wire.ts';
import { createRandom, deriveSeed } from '../random.ts';
import type { Absence } from './absences.ts';
import type { BadNetwork } from './bad-network.ts';
import type { Clocks } from './clocks.ts';
import type { Life } from './life.ts';

export interface DeviceAccount {
  readonly deviceId: string;
  readonly credential: string;
  readonly certificate?: Certificate | undefined;
}

/** The settings that the members of a group share: one object for all of them. */
export interface GroupSettings {
  readonly group: string;
  readonly behaviour?: Partial<Behaviour>;
  readonly absence?: Absence;
  /** The faults that devices of the group may have. */
  readonly faults?: readonly FaultRule[];
  /** 5: the devices speak MQTT 5; without it 3.1.1. */
  readonly level?: 5;
  /** The state of each device before its first command. */
  readonly equipment?: Partial<Equipment>;
  /** The calls, uploads and other events of these devices, which begin after they are connected. */
  readonly life?: Partial<Life>;
  /** Whether these devices share one access point. */
  readonly isShared?: boolean;
  /** The network of these devices, if it is bad. */
  readonly network?: BadNetwork | null;
  /** The clocks of these devices, if they are wrong. */
  readonly clocks?: Clocks | null;
}

/** One device of a fleet. */
export interface FleetMember {
  readonly account: DeviceAccount;
  /** The index in the whole fleet, from 0. Index and seed together decide everything about the device. */
  readonly place: number;
  readonly settings: GroupSettings;
}

/** A fleet of one group. A share of it (0 to 1) has a firmware older than the Bluetooth operations. */
export function oneGroup(
  accounts: readonly DeviceAccount[],
  { seed = 1, oldFirmware = 0, ...given }: Partial<GroupSettings> & { seed?: number; oldFirmware?: number } = {},
): FleetMember[] {
  const settings: GroupSettings = { group: 'all', ...given };
  const old: GroupSettings = { ...settings, equipment: { ...given.equipment, ...OLD_FIRMWARE } };
  return accounts.map((account, place) => {
    const isOld = createRandom(deriveSeed(seed, place, 3))() < oldFirmware;
    return { account, place, settings: isOld ? old : settings };
  });
}

/** Several processes share a fleet: this process has part `index` (from 1) of `count` parts. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The members of this process: each `count`-th member of the fleet. */
export const shardOf = (members: readonly FleetMember[], { index, count }: Shard): FleetMember[] =>
  members.filter(({ place }) => place % count === index - 1);
