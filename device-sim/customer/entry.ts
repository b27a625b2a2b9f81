import type { Command } from '../mqtt/messages.ts';

/** The command that a request should become: its name, and its parameters. */
export interface Asked {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Parameters that the service adds. */
  readonly added?: readonly string[];
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
  /** The phase of the action that caused the transaction; null while its 201 was not seen. */
  phase: string | null;
  number: number | undefined;
  requestedAt: number;
  acceptedAt: number | null;
  deliveredAt: number | null;
  /** The attempt of the last delivery. */
  attempt: number;
  answeredAt: number | null;
  answer: string | null;
  /** The command that the request should become; null while its 201 was not seen. */
  asked: Asked | null;
  /** A command that came before the 201, which is compared with it later. */
  got: Pick<Command, 'operation' | 'parameters'> | null;
  /** The contents of the device's answers. */
  given: readonly Pick<Outcome, 'status' | 'result' | 'error'>[];
  /** The content of the result until it is compared. */
  outcome: Outcome | null;
  acknowledgedAt: number | null;
  /** The number of the device's connection on which the answer was acknowledged. */
  acknowledgedOn: number;
  result: { status: string; code: string | null; webhookId: string; body: number; at: number } | null;
  /** Notes about other devices than the one that was asked. */
  elsewhere: { readonly at: number; readonly deviceId: string; readonly text: string }[];
  /** Whether these notes are counted as a violation. */
  strayed: boolean;
  /** The mark of the webhook of an earlier transaction with the same id; 0 if there was none. */
  former: number;
  /** Whether it is counted as lost. */
  lost: boolean;
  /** Whether it is counted as doubled. */
  doubled: boolean;
}

export const newEntry = (transactionId: number, deviceId: string, at: number): Entry => ({
  transactionId,
  deviceId,
  issuedAt: null,
  operation: '',
  phase: null,
  number: undefined,
  requestedAt: at,
  acceptedAt: null,
  deliveredAt: null,
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
  lost: false,
  doubled: false,
});
