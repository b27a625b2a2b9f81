import type { Release, Terms } from '../customer/action.ts';
import type { Values } from '../customer/call-contents.ts';
import type { PlannedProgramFault, Program } from '../customer/program.ts';
import type { PlayedFault } from '../customer/receiver-fault.ts';
import type { FaultRule } from '../faults/fault.ts';
import type { Absence } from '../fleet/absences.ts';
import type { BadNetwork } from '../fleet/bad-network.ts';
import type { Clocks } from '../fleet/clocks.ts';
import type { Life } from '../fleet/life.ts';
import type { Behaviour } from '../model/behaviour.ts';
import type { Equipment } from '../model/device-state.ts';
import type { PlannedServiceFault } from '../service/service-fault.ts';
import type { Expectation } from './expectation.ts';
import type { PlannedRollout } from './rollouts.ts';
import type { ScenarioFile } from './scenario-file.ts';

/** A scenario after reading: durations in milliseconds, rates per second, shares 0 to 1, and all names exist. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly seed: number;
  /** The groups in the order of the file. The devices are numbered through all groups, beginning with the first. */
  readonly groups: readonly Group[];
  /** Connections a second; null is unbounded. */
  readonly connectRate: number | null;
  readonly activate: boolean;
  readonly activationPatience: number;
  readonly lateAfter: number;
  readonly settle: number;
  readonly rounds: number;
  readonly phases: readonly Phase[];
  /** The programs of the customer that take events, besides its receiver. */
  readonly programs: readonly Program[];
  readonly expectations: readonly Expectation[];
  /** The conditions of `takesPlace`: when one is not met, the run did not take place. */
  readonly requirements: readonly Expectation[];
}

export interface Group {
  readonly name: string;
  readonly count: number;
  readonly tags: readonly string[];
  /** The tags that the customer gives to the devices at the service. */
  readonly deviceTags: Readonly<Record<string, string>>;
  /** The model name of the hardware. */
  readonly model: string;
  readonly equipment: Equipment;
  readonly behaviour: Behaviour;
  readonly absence: Absence;
  readonly life: Life;
  /** Whether the devices share one access point: they lose it together, and share its bandwidth. */
  readonly isShared: boolean;
  /** The bandwidth and the losses of the group's network; null when it has neither. */
  readonly network: BadNetwork | null;
  readonly clocks: Clocks | null;
  /** The faults that the group itself names, and those that phases name for it. */
  readonly faults: readonly FaultRule[];
}

/** The names of the groups that something applies to; never empty. */
type Groups = readonly string[];

export interface Phase {
  readonly name: string;
  readonly about: string;
  /** Milliseconds; null: the phase lasts until the fleet has been idle for `untilIdle`, or until Ctrl-C. */
  readonly duration: number | null;
  readonly untilIdle: number | null;
  readonly connect: { readonly groups: Groups; readonly rate: number | null | undefined } | null;
  readonly disconnect: { readonly groups: Groups; readonly share: number; readonly cut: boolean } | null;
  /** The faults of the customer's receiver; the shares add up to 1 at most. */
  readonly receiver: readonly PlayedFault[];
  /** The faults of the customer's programs. */
  readonly programs: readonly PlannedProgramFault[];
  /** Bad networks, by group. */
  readonly networks: ReadonlyMap<string, BadNetwork>;
  /** The faults of the service, in the order of their times. */
  readonly service: readonly PlannedServiceFault[];
  readonly actions: readonly PlannedAction[];
  readonly rollouts: readonly PlannedRollout[];
}

/** Whether the scenario has a bad network, so that the simulator must slow down or cut connections of devices. */
export const hasBadNetworks = ({ groups, phases }: Scenario): boolean =>
  groups.some(({ network }) => network !== null) || phases.some(({ networks }) => networks.size > 0);

/** An action of the customer, or of the wearers of the devices. */
export type Doing = NonNullable<NonNullable<ScenarioFile['phases'][number]['actions']>[number]>['do'];

/** An action that is repeated while a phase lasts. */
export interface PlannedAction {
  readonly do: Doing;
  readonly groups: Groups;
  /** The share of the devices in these groups that take part, from 0 to 1. */
  readonly share: number;
  /**
   * How often the action happens: `perSecond` times a second for all devices together (changing evenly to `toPerSecond`, if given), or `each` times for each device
   * within `within` milliseconds (null: within the phase).
   */
  readonly pace:
    | { readonly perSecond: number; readonly toPerSecond?: number }
    | { readonly each: number; readonly within: number | null };
  readonly release?: Release;
  readonly terms?: Terms;
  /** The rows of a file: the first device of the run takes the first, and so on, from the first again at the end. */
  readonly values?: readonly Values[];
}
