import type { Asked, Entry } from './entry.ts';

/** A rollout that the service has accepted. */
export interface RolledOut {
  readonly rolloutId: string;
  /** The phase of the action that started it. All its transactions count in this phase. */
  readonly phase: string;
  /** The number of its devices. */
  readonly devices: number;
  /** The command that each of its devices should get. */
  readonly asked: Asked;
}

/** A transaction that a rollout has made. */
export interface RolloutTransaction {
  readonly rolloutId: string;
  readonly transactionId: number;
  readonly deviceId: string;
}

/** A command that was published while its rollout was stopped; `text` is a sentence about it. */
export interface Overshot {
  readonly deviceId: string;
  readonly transactionId: number;
  readonly text: string;
}

/** A rollout at the end of a run. */
export interface EndedRollout {
  readonly rolloutId: string;
  readonly phase: string;
  readonly state: string;
  /** The number of stages that have begun, and of all stages. */
  readonly stages: number;
  readonly plannedStages: number;
  readonly devices: readonly string[];
  /** The devices that never got a command, if the rollout has stopped. */
  readonly spared: readonly string[];
  readonly overshoot: readonly Overshot[];
}

/** The transactions of rollouts, of which the customer learns by their webhooks and by the lists of the service. */
export interface RolloutBook {
  /** A rollout is about to be requested whose commands may supersede others. */
  rolloutSupersedes(): void;
  /** Follows a rollout from now on. */
  rolledOut(rollout: RolledOut, at: number): void;
  /** Enters a transaction that the service lists for a rollout. Nothing happens if it is known already. */
  adopt(made: RolloutTransaction, at: number): void;
  /** The transactions of a rollout that are known, by their ids. */
  transactionsOf(rolloutId: string): ReadonlyMap<number, Readonly<Entry>>;
  /** The service has taken a transaction back whose command it never published. Such a transaction has no result. */
  takenBack(transactionId: number): void;
  /** Counts a breach of the contract that concerns a device of a rollout, or the whole rollout. `text` is a sentence. */
  breach(
    about: { readonly deviceId: string; readonly transactionId?: number; readonly phase: string },
    text: string,
    at: number,
  ): void;
  /** Counts what the customer found out about a rollout at its end. */
  rolloutEnded(ended: EndedRollout, at: number): void;
}
