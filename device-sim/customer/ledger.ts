import type { WebhookEvent } from '../../src/client/verify-webhook.ts';
import type { Answer, Command, DeviceEvent } from '../mqtt/messages.ts';
import type { Figures } from './figures.ts';

/** What got a 201. Times are milliseconds of the timers of the run. */
export interface Accepted {
  readonly transactionId: number;
  readonly deviceId: string;
  readonly operation: string;
  readonly phase: string;
  /** Of the action, when it is one of a run. */
  readonly number?: number;
  readonly requestedAt: number;
  readonly at: number;
}

/** Something that went wrong, with the shortest story of it. */
export interface Trouble {
  readonly kind: 'lost' | 'doubled' | 'late' | 'unordered' | 'forged' | 'error';
  readonly deviceId: string;
  readonly transactionId: number | null;
  readonly phase: string;
  /** What is wrong, in a sentence. */
  readonly text: string;
  /** Lines with the time since the start, who, and what. */
  readonly story: readonly string[];
}

/** Follows each transaction from its 201 to its verified webhook: the one source of what was lost, doubled, late. */
export interface Ledger {
  accepted(transaction: Accepted): void;
  /** `status` 0: no answer at all. */
  refused(refusal: {
    deviceId: string;
    operation: string;
    phase: string;
    status: number;
    reason: string;
    at: number;
  }): void;
  postponed(phase: string): void;
  /** A command came to its device. */
  delivered(deviceId: string, command: Command, at: number): void;
  /** A device has sent its answer, or would have. */
  answered(deviceId: string, answer: Answer, at: number): void;
  /** The service has acknowledged it. */
  acknowledged(deviceId: string, answer: Answer, at: number): void;
  /** The service has acknowledged an event. */
  told(deviceId: string, event: DeviceEvent, at: number): void;
  online(deviceId: string, at: number): void;
  offline(deviceId: string, reason: string, at: number): void;
  /** A line for the story of a device, when something befalls it. */
  note(deviceId: string, text: string, at: number): void;
  /** A verified webhook came. */
  received(received: { webhookId: string; event: WebhookEvent }, at: number): void;
  forged(reason: string, at: number): void;

  /** The action that caused a transaction, when this process made the request and knows its answer. */
  actionOf(transactionId: number): { number: number; phase: string } | undefined;
  /** Transactions of a device that have no result yet, the oldest first. */
  unfinishedOf(deviceId: string): readonly number[];
  /** Transactions that have no result yet. */
  readonly unfinished: number;
  /** Of a phase, or of the whole run. */
  figures(phase?: string): Figures;
  /** The shortest story of a device, or of the one of a transaction. */
  story(of: { deviceId: string } | { transactionId: number }): readonly string[];
  /** What went wrong, with stories; a bounded number of them, the first ones. */
  troubles(): readonly Trouble[];
}
