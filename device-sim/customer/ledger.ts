import type { WebhookEvent } from '../../src/clients/client/verify-webhook.ts';
import type { Answer, Command, Complaint, DeviceEvent } from '../mqtt/messages.ts';
import type { Entry } from './entry.ts';
import type { ToldEvent } from './event-book.ts';
import type { Figures } from './figures.ts';

/** What got a 201. Times are milliseconds of the timers of the run. */
export interface Accepted {
  readonly transactionId: number;
  readonly deviceId: string;
  readonly operation: string;
  readonly phase: string;
  /** Of the action, when it is one of a run. */
  readonly number?: number | undefined;
  readonly requestedAt: number;
  readonly at: number;
}

export interface Refused {
  readonly deviceId: string;
  readonly operation: string;
  readonly phase: string;
  /** 0: no answer at all. */
  readonly status: number;
  readonly reason: string;
  readonly at: number;
}

/** Something that went wrong, with the shortest story of it. */
export interface Trouble {
  readonly kind: 'lost' | 'doubled' | 'late' | 'unordered' | 'forged' | 'error' | 'violation';
  readonly deviceId: string;
  readonly transactionId: number | null;
  readonly phase: string;
  /** What is wrong, in a sentence. */
  readonly text: string;
  /** Lines with the time since the start, who, and what. */
  readonly story: readonly string[];
}

export type ExampleKind = 'failed' | 'unfinished' | 'slowest';

/** A transaction without a result. */
export type Owed = Readonly<Entry>;

/** Follows each transaction from its 201 to its verified webhook: the one source of what was lost, doubled, late. */
export interface Ledger {
  /** From now on what belongs to no action is of this phase. */
  enter(phase: string): void;
  /** A request was carried out that makes no transaction. */
  carriedOut(phase: string): void;
  accepted(transaction: Accepted): void;
  refused(refusal: Refused): void;
  /** A request got no answer, or a 5xx, and is made again. */
  failed(refusal: Refused): void;
  postponed(phase: string): void;
  /** A command came to its device. */
  delivered(deviceId: string, command: Command, at: number): void;
  /** A device has its answer. */
  answered(deviceId: string, answer: Answer, at: number): void;
  /** The service has acknowledged it. */
  acknowledged(deviceId: string, answer: Answer, at: number): void;
  /** The service has acknowledged an event. */
  told(deviceId: string, event: DeviceEvent, at: number): void;
  /** The service has complained about a message; an event that it is about is not owed. */
  complained(deviceId: string, complaint: Complaint, at: number): void;
  /** A device is connected, from now on by another connection than before. */
  connected(deviceId: string, at: number): void;
  /** A line for the story of a device: the end of a connection, a fault. */
  note(deviceId: string, text: string, at: number): void;
  /** A verified webhook came. `body`: what was signed. */
  received(received: { webhookId: string; event: WebhookEvent; body: Uint8Array }, at: number): void;
  forged(reason: string, at: number): void;
  /** It will not come any more, or should have. In words why it is owed. */
  lose(transactionId: number, why: string, at: number): void;
  loseEvent(event: ToldEvent, at: number): void;

  /** The action that caused a transaction, when this process made the request and knows its answer. */
  actionOf(transactionId: number): { number: number; phase: string } | undefined;
  /** Whether this process has seen its 201. */
  isAccepted(transactionId: number): boolean;
  /** How a transaction has ended; undefined while it has not, or when that is long ago. */
  outcomeOf(transactionId: number): string | undefined;
  /** A command of the same device that came, though it was to come after this one; undefined when none did. */
  overtaking(transactionId: number): number | undefined;
  /** Transactions of a device that have no result yet, the oldest first. */
  unfinishedOf(deviceId: string): readonly number[];
  /** Transactions that have no result yet, lost ones included. */
  readonly unfinished: number;
  owed(): readonly Owed[];
  owedEvents(): readonly ToldEvent[];
  readonly waitingEvents: number;
  phases(): readonly string[];
  /** Of a phase, or of the whole run. */
  figures(phase?: string): Figures;
  /** The shortest story of a device, or of the one of a transaction. */
  story(of: { deviceId: string } | { transactionId: number }): readonly string[];
  /** The story of the first transaction (of a phase) that failed, or has no result, or of the one whose command took longest to come. */
  example(kind: ExampleKind, phase?: string): readonly string[];
  /** What went wrong, with stories; a bounded number of each kind and phase, the first ones. */
  troubles(): readonly Trouble[];
}
