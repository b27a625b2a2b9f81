import type { Release } from '../customer/action.ts';
import type { ReceiverFault } from '../customer/receiver-fault.ts';
import type { FaultRule } from '../faults/fault.ts';
import type { Absence } from '../fleet/absences.ts';
import type { Life } from '../fleet/life.ts';
import type { Behaviour } from '../model/behaviour.ts';
import type { Equipment } from '../model/device-state.ts';
import type { Expectation } from './expectation.ts';
import type { ScenarioFile } from './scenario-file.ts';

/** A story, understood: durations in milliseconds, rates of actions a second, shares 0 to 1, names that exist. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly seed: number;
  /** The devices are numbered through the groups: the first group has the first ones. */
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
  /** Without these it has not taken place. */
  readonly requirements: readonly Expectation[];
}

export interface Group {
  readonly name: string;
  readonly count: number;
  readonly tags: readonly string[];
  /** What the hardware is called. */
  readonly model: string;
  readonly equipment: Equipment;
  readonly behaviour: Behaviour;
  readonly absence: Absence;
  readonly life: Life;
  /** Those of the group and those of phases. */
  readonly faults: readonly FaultRule[];
}

/** Devices by the names of their groups; never empty. */
type Groups = readonly string[];

export interface Phase {
  readonly name: string;
  readonly about: string;
  /** Null: until it is idle, or for ever. */
  readonly duration: number | null;
  readonly untilIdle: number | null;
  readonly connect: { readonly groups: Groups; readonly rate: number | null | undefined } | null;
  readonly disconnect: { readonly groups: Groups; readonly share: number; readonly cut: boolean } | null;
  readonly receiver: { readonly fault: ReceiverFault; readonly share: number } | null;
  readonly actions: readonly PlannedAction[];
}

/** What is done by the customer, or by the people who wear the devices. */
export type Doing = NonNullable<NonNullable<ScenarioFile['phases'][number]['actions']>[number]>['do'];

/** Something that is done again and again while a phase lasts. */
export interface PlannedAction {
  readonly do: Doing;
  readonly groups: Groups;
  /** Of the devices of the groups. */
  readonly share: number;
  /** A second over all of them, or so many times to each within so many milliseconds (null: of the phase). */
  readonly pace: { readonly perSecond: number } | { readonly each: number; readonly within: number | null };
  readonly release?: Release;
}
