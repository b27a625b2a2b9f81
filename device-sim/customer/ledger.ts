import type { WebhookEvent } from '@lapel/client/verify-webhook';
import type { Answer, Command, Complaint, DeviceEvent } from '../mqtt/messages.ts';
import type { CheckName } from '../promises/checks.ts';
import type { Look } from '../promises/looks.ts';
import type { Untimely } from './attempts.ts';
import type { Difference } from './differences.ts';
import type { Asked, Entry, Outcome } from './entry.ts';
import type { ToldEvent } from './event-book.ts';
import type { Figures, Stage } from './figures.ts';
import type { OwedCancel } from './owed-cancels.ts';
import type { RolloutBook } from './rollout-entries.ts';
import type { Counted, Scope } from './scopes.ts';
import type { Note } from './story.ts';

/** A request that got a 201. Times are milliseconds of the timers of the run. */
export interface Accepted {
  readonly transactionId: number;
  readonly deviceId: string;
  readonly operation: string;
  readonly phase: string;
  /** The number of the action, if an action of the run made the request. */
  readonly number?: number | undefined;
  /**
   * The command that the service should make from the request. Without it, neither the command nor the result is
   * compared.
   */
  readonly asked?: Asked | undefined;
  readonly requestedAt: number;
  readonly at: number;
}

export interface Refused {
  readonly deviceId: string;
  readonly operation: string;
  readonly phase: string;
  /** The status; 0 if there was no answer. */
  readonly status: number;
  readonly reason: string;
  readonly at: number;
}

/** A fault that was noticed, with the fewest events of the device that show it. */
export interface Trouble {
  readonly kind:
    | 'window'
    | 'repeated'
    | 'hammering'
    | 'lost'
    | 'doubled'
    | 'late'
    | 'unordered'
    | 'forged'
    | 'error'
    | 'violation'
    | 'overshoot'
    | 'order'
    | 'gap'
    | 'customer'
    | 'wrong';
  readonly deviceId: string;
  readonly transactionId: number | null;
  readonly phase: string;
  /** The fault, in a sentence. */
  readonly text: string;
  /** The events that show the fault, one in a line: the time since the start of the run, the actor, and the action. */
  readonly story: readonly string[];
}

/** The subject of a comparison, whose differences count in `wrong`: `text` names it in the sentences of the report. */
export interface About {
  readonly text: string;
  readonly deviceId: string;
  readonly transactionId?: number;
  readonly phase?: string;
}

/**
 * The figures in which something else than the books of transactions counts breaches; or `programs` of the customer, whose
 * faults are counted by events, and told together.
 */
export type BreachFigure = 'violations' | 'order' | 'gaps' | 'programs';

/** The figures that count events which need no story. */
type EventFigure = 'pushed' | 'pulled' | 'customerLost' | 'customerAgain';

/** The device and the transaction that something is about; without a phase it counts in the present one. */
export interface Breached {
  readonly deviceId: string;
  readonly transactionId?: number;
  readonly phase?: string;
}

/** A result in the sample that is compared with the transaction records at the end. */
export interface Sampled extends Outcome {
  readonly transactionId: number;
  readonly deviceId: string;
  /** When the result was known, in milliseconds of the timers of the run. */
  readonly at: number;
}

export type ExampleKind = 'failed' | 'cancelled' | 'unfinished' | 'slowest';

/** A transaction that has no result yet. */
export type Owed = Readonly<Entry>;

/**
 * Follows each transaction from its 201 to its verified webhook. Only the ledger decides what was lost, doubled or
 * late.
 */
export interface Ledger extends RolloutBook {
  /** Begins a phase: faults and events that belong to no action count in it from now on. */
  enter(phase: string): void;
  presentPhase(): string;
  /** Counts a request that succeeded and that creates no transaction. */
  carriedOut(phase: string, about: Counted): void;
  accepted(transaction: Accepted): void;
  refused(refusal: Refused): void;
  /** A request got no answer, or a 5xx, and will be repeated. */
  failed(refusal: Refused): void;
  postponed(phase: string, about: Counted): void;
  /** A cancel of the transaction was answered 204. */
  cancelled(transactionId: number, at: number): void;
  /** A command is about to be requested that may supersede others of its device. */
  supersedes(deviceId: string): void;
  /** A command reached its device. */
  delivered(deviceId: string, command: Command, at: number): void;
  /** A device has an answer ready. */
  answered(deviceId: string, answer: Answer, at: number): void;
  /** The service has acknowledged an answer. */
  acknowledged(deviceId: string, answer: Answer, at: number): void;
  /** An event happened on a device, which will report it. */
  happened(deviceId: string, event: DeviceEvent): void;
  /** The service has acknowledged an event. */
  told(deviceId: string, event: DeviceEvent, at: number): void;
  /** The service has reported a fault in a message. If the message is an event, its webhook is no longer expected. */
  complained(deviceId: string, complaint: Complaint, at: number): void;
  /** A device has connected; its former connection has ended. */
  connected(deviceId: string, at: number): void;
  /**
   * Adds an event of a device (the end of a connection, a fault) to the lines that the report prints beside a fault.
   */
  note(deviceId: string, text: string, at: number): void;
  /** A verified webhook arrived. `body` is the signed text; `sentAt` the time of the attempt, in milliseconds since 1970. */
  received(received: { webhookId: string; event: WebhookEvent; body: Uint8Array; sentAt: number }, at: number): void;
  /** A webhook had a wrong signature. The fault names the device in `body`, if the run has that device. */
  forged(reason: string, body: Buffer, at: number): void;
  /**
   * An attempt of a webhook broke the documented schedule. `body` is the webhook's text, whose signature is not
   * verified.
   */
  untimely(untimely: Untimely, body: Buffer, at: number): void;
  /** A device had `commands` commands without a PUBACK or an answer, more than the contract allows. */
  overrun(deviceId: string, commands: number, at: number): void;
  /** The service was restored from a backup that was begun at `from`. */
  restored(from: number): void;
  /** The service knows a transaction that it may have lost in a restore. */
  stays(transactionId: number): void;
  /** The service does not know a transaction that it may have lost in a restore. */
  gone(transactionId: number): void;
  /** Counts a transaction as lost. `why` is a sentence. */
  lose(transactionId: number, why: string, at: number): void;
  /** Results of the whole run, evenly sampled, for the comparison with the transaction records at the service. */
  sample(): readonly Sampled[];
  /**
   * Counts each difference between a message and the message that it was made from. `about.text` begins the sentences
   * of the report: "the record of transaction 48".
   */
  wrong(about: About, found: readonly Difference[], at: number): void;
  loseEvent(event: ToldEvent, at: number): void;
  /** Counts a breach of the contract. `text` is a sentence. */
  violated(about: Breached, text: string, at: number): void;
  /** Counts what a figure is about. `text` is a sentence, and `before` has the lines of its story that no book has. */
  breached(figure: BreachFigure, about: Breached, text: string, at: number, before?: readonly Note[]): void;
  /** Counts an event that came to a program of the customer, or that the program lost or got again; by default in the present phase. */
  counted(figure: EventFigure, deviceId: string, phase?: string): void;
  /** Tells that a check has looked. */
  readonly look: Look;
  /** How often each check has looked. */
  looks(): Readonly<Record<CheckName, number>>;
  /** Cancels that came to this device may have been taken by another client: none are missed from now on. */
  excuseCancels(deviceId: string): void;
  /** The device belongs to another developer from now on, and is owed no cancel of the former one. */
  moved(deviceId: string, at: number): void;
  /** The cancels that devices are owed, and have not got. */
  owedCancels(): readonly OwedCancel[];
  /** Counts a cancel that a device was owed and did not get. */
  missCancel(owed: OwedCancel, at: number): void;

  /** The action that caused a transaction, if this process made the request and has its answer. */
  actionOf(transactionId: number): { number: number; phase: string } | undefined;
  /** Whether this process has seen the 201 of the transaction. */
  isAccepted(transactionId: number): boolean;
  /** The end of a transaction; undefined while it is unfinished, or if it ended long ago. */
  outcomeOf(transactionId: number): string | undefined;
  /**
   * A command of the same device that arrived before this one although its id is higher; undefined if there was none.
   */
  overtaking(transactionId: number): number | undefined;
  /** Transactions of a device that have no result yet, the oldest first. */
  unfinishedOf(deviceId: string): readonly number[];
  /** Transactions that have no result yet, lost ones included. */
  readonly unfinished: number;
  owed(): readonly Owed[];
  owedEvents(): readonly ToldEvent[];
  readonly waitingEvents: number;
  phases(): readonly string[];
  /** The figures of a phase or of the whole run, for all devices and operations or for those of a scope. */
  figures(phase?: string, scope?: Scope): Figures;
  /**
   * The last events of a device, or of the device of a transaction, one in a line: requests, commands, answers,
   * results.
   */
  story(of: { deviceId: string } | { transactionId: number }): readonly string[];
  /**
   * The events of one transaction of a phase, as an example: of the first that failed, was cancelled or has no result, or of the one
   * that took the longest time to reach a stage (by default: the arrival of its command).
   */
  example(kind: ExampleKind, phase?: string, scope?: Scope, stage?: Stage): readonly string[];
  /** Whether a fault is about a device of the group, and about the action, of a scope. */
  isIn(trouble: Trouble, scope: Scope): boolean;
  /** The faults that were noticed; of each kind and phase at most fifty. */
  troubles(): readonly Trouble[];
}
