import type { Release } from '../customer/action.ts';
import type { ReceiverFault } from '../customer/receiver-fault.ts';
import type { FaultRule } from '../faults/fault.ts';
import type { Absence } from '../fleet/absences.ts';
import type { Life } from '../fleet/life.ts';
import type { Behaviour } from '../model/behaviour.ts';
import type { Equipment } from '../model/device-state.ts';
import type { Expectation } from './expectation.ts';
import type { ScenarioFile } from './scenario-file.ts';

/** A scenario after reading: durations in milliseconds, rates per second, shares 0 to 1, and all names exist. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly seed: number;
  /** The devices are numbered through the groups; the first group has the first numbers. */
  readonly groups: readonly Group[];
  /** Connections a second; null is unbounded. */
  readonly connectRate: number | null;
  readonly activate: boolean;
  readonly activationPatience: number;
  readonly lateAfter: number;
  readonly settle: number;
  readonly rounds: number;
  readonly phases: readonly Phase[];
  readonly expectations: readonly Expectation[];
  /** Requirements without which the run did not take place. */
  readonly requirements: readonly Expectation[];
}

export interface Group {
  readonly name: string;
  readonly count: number;
  readonly tags: readonly string[];
  /** The model name of the hardware. */
  readonly model: string;
  readonly equipment: Equipment;
  readonly behaviour: Behaviour;
  readonly absence: Absence;
  readonly life: Life;
  /** The faults of the group, and those of phases. */
  readonly faults: readonly FaultRule[];
}

/** Devices by the names of their groups; never empty. */
type Groups = readonly string[];

export interface Phase {
  readonly name: string;
  readonly about: string;
  /** Milliseconds. Null: until the fleet is idle, or for ever. */
  readonly duration: number | null;
  readonly untilIdle: number | null;
  readonly connect: { readonly groups: Groups; readonly rate: number | null | undefined } | null;
  readonly disconnect: { readonly groups: Groups; readonly share: number; readonly cut: boolean } | null;
  readonly receiver: { readonly fault: ReceiverFault; readonly share: number } | null;
  readonly actions: readonly PlannedAction[];
}

/** An action of the customer, or of the wearers of the devices. */
export type Doing = NonNullable<NonNullable<ScenarioFile['phases'][number]['actions']>[number]>['do'];

/** An action that is repeated while a phase lasts. */
export interface PlannedAction {
  readonly do: Doing;
  readonly groups: Groups;
  /** The share of the devices in these groups. */
  readonly share: number;
  /**
   * So many a second for all devices together, or so many for each device within so many milliseconds (null: within the
   * phase).
   */
  readonly pace: { readonly perSecond: number } | { readonly each: number; readonly within: number | null };
  readonly release?: Release;
}
