import type { LapelClient } from '@lapel/client/lapel-client';
import type { Entry } from './entry.ts';
import type { RolloutPlan } from './rollout-plan.ts';

type Answer<Name extends 'readRollout' | 'listRolloutDevices' | 'listOwnTransactions'> = Awaited<
  ReturnType<LapelClient[Name]>
>;
export type RolloutDetails = Answer<'readRollout'>;
export type RolloutDevice = Answer<'listRolloutDevices'>['devices'][number];
export type RolloutTransactionRow = Answer<'listOwnTransactions'>['transactions'][number];

/** The state of a rollout, as the service answers it. */
export interface RolloutSnapshot {
  readonly rollout: RolloutDetails;
  readonly devices: readonly RolloutDevice[];
  readonly transactions: readonly RolloutTransactionRow[];
}

/** A webhook about a rollout. */
export interface RolloutEvent {
  readonly type: string;
  readonly stage: number;
  readonly reason: string | null;
  readonly by: string;
  readonly counts: RolloutDetails['counts'];
}

/** The devices of a rollout, as far as the customer knows them for certain. */
export interface KnownMembers {
  readonly must: ReadonlySet<string>;
  readonly mustNot: ReadonlySet<string>;
}

/** A rollout that the customer follows. */
export interface FollowedRollout {
  readonly rolloutId: string;
  /** The phase of the action that started it. */
  readonly phase: string;
  readonly plan: RolloutPlan;
  /** The number of devices in the answer to its start. */
  readonly devices: number;
  /** Null if only the service can know its devices. */
  readonly members: KnownMembers | null;
  /** The webhooks about it, by their ids. */
  readonly events: Map<string, RolloutEvent>;
  /** The stages that the customer has asked to approve. */
  readonly approved: Set<number>;
  isCompared: boolean;
}

/** The facts about a rollout that the customer knows. */
export interface KnownRollout {
  readonly rolloutId: string;
  readonly plan: RolloutPlan;
  /** The number of devices in the answer to its start. */
  readonly devices: number;
  /** Null if only the service can know its devices. */
  readonly members: KnownMembers | null;
  /** Whether its devices stay activated. Otherwise some may be missing in the lists of the service. */
  readonly devicesStay: boolean;
  readonly transactions: ReadonlyMap<number, Readonly<Entry>>;
  readonly events: readonly RolloutEvent[];
  /** The stages that the customer has asked to approve. */
  readonly approved: ReadonlySet<number>;
  /** Whether webhooks of the service still wait for another attempt. */
  readonly pending: boolean;
}

/** A sentence about a rollout in which the service and the books do not agree. Empty deviceId: the whole rollout. */
export interface RolloutDifference {
  readonly text: string;
  readonly deviceId: string;
  readonly transactionId?: number;
}
