import type { Command } from '../mqtt/messages.ts';
import type { Terms } from './action.ts';

/** The command that the service should make from a request: its operation and its parameters. */
export interface Asked {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Parameters that the service adds. */
  readonly added?: readonly string[];
  /** The terms of the command; without them it does not expire. */
  readonly terms?: Terms;
}

/** The content of a result, in a webhook or in the transaction record. */
export interface Outcome {
  readonly operation: string;
  readonly status: string;
  readonly result: unknown;
  readonly error: unknown;
}

/** The books about one transaction. Times are milliseconds of the timers of the run; null means not yet. */
export interface Entry {
  readonly transactionId: number;
  /** The device that was asked. Before the 201: the first device that had to do with the transaction. */
  deviceId: string;
  /** Identifies the command together with the transactionId; null while no device has got it. */
  issuedAt: string | null;
  operation: string;
  /** The rollout that made the transaction; null if a request did, or while it is not known. */
  rolloutId: string | null;
  /** The phase of the action that caused the transaction; null until the 201 has arrived. */
  phase: string | null;
  number: number | undefined;
  requestedAt: number;
  acceptedAt: number | null;
  deliveredAt: number | null;
  /** The time of the 204 to a cancel; null if no cancel was answered so. */
  cancelledAt: number | null;
  /** The time at which the device got the cancel of the command; null if it did not. */
  cancelGotAt: number | null;
  /** The number of the last delivery attempt of the command. */
  attempt: number;
  answeredAt: number | null;
  answer: string | null;
  /** The command that the service should make from the request; null until the 201 has arrived. */
  asked: Asked | null;
  /**
   * The command as the device received it, kept for the comparison with its request. Null when there is nothing to
   * compare.
   */
  got: Pick<Command, 'operation' | 'parameters'> | null;
  /** The different answers that the device gave to the command, for the comparison with the result. */
  given: readonly Pick<Outcome, 'status' | 'result' | 'error'>[];
  /**
   * The result in the webhook, kept for the comparison with the device's answers; null before the webhook and after the
   * comparison.
   */
  outcome: Outcome | null;
  acknowledgedAt: number | null;
  /** Which connection of the device (1 is its first) had sent the answer that the service acknowledged. */
  acknowledgedOn: number;
  result: {
    status: string;
    code: string | null;
    webhookId: string;
    body: number;
    at: number;
    /** The rollout that the webhook names; null if it names none. */
    rolloutId: string | null;
  } | null;
  /** Commands that came to another device than the one that was asked, and answers of such a device. */
  elsewhere: { readonly at: number; readonly deviceId: string; readonly text: string }[];
  /** Whether the notes in `elsewhere` were already reported as a violation. */
  strayed: boolean;
  /**
   * A hash of the webhook-id that brought the result of an earlier transaction with the same id; 0 if there was none.
   * It tells a repetition of that webhook from the result of this transaction.
   */
  former: number;
  /** Whether the service may have lost the transaction, because it was restored from an earlier backup. */
  mayBeGone: boolean;
  /** Whether the service may have lost the result, so that it comes again, perhaps with the webhook of `former`. */
  reopened: boolean;
  /** Whether the transaction is counted as lost. */
  lost: boolean;
  /** Whether the transaction is counted as doubled. */
  doubled: boolean;
}

export const newEntry = (transactionId: number, deviceId: string, at: number): Entry => ({
  transactionId,
  deviceId,
  issuedAt: null,
  operation: '',
  rolloutId: null,
  phase: null,
  number: undefined,
  requestedAt: at,
  acceptedAt: null,
  deliveredAt: null,
  cancelledAt: null,
  cancelGotAt: null,
  attempt: 0,
  answeredAt: null,
  answer: null,
  asked: null,
  got: null,
  given: [],
  outcome: null,
  acknowledgedAt: null,
  acknowledgedOn: 0,
  result: null,
  elsewhere: [],
  strayed: false,
  former: 0,
  mayBeGone: false,
  reopened: false,
  lost: false,
  doubled: false,
});
