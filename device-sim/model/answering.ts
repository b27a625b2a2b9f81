import type { Answer } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import type { Plan } from './plans.ts';

/** Messages that nobody can read: no text, half of an object, another kind of value. */
const SPOILT = [Buffer.from([0xff, 0xfe, 0x00]), '{"transactionId":', '["succeeded"]'] as const;
/** What no service knows, and an optional member of a wrong type. */
const STRANGE = { mood: 'good', sensors: [{ id: 1 }], progress: 'nearly' };

/** Sends the answers of a device, as its plans say: or not at all, or when it is too late, or with something else. */
export interface Answering {
  say(answer: Answer, plan: Plan | undefined, repeated: boolean): void;
  /** The PUBACK of a command waits. */
  hold(transactionId: number, messageId: number): void;
  /** It waits no more: gives its message, if there is one. */
  letGo(transactionId: number): number | undefined;
  online(): void;
  forget(): void;
  /** A complaint of the service came; whether it was provoked. */
  isProvoked(): boolean;
  /** Answers that wait: for a connection, or for another answer. */
  readonly size: number;
}

interface AnsweringParts {
  isOnline: () => boolean;
  publish: (payload: string | Buffer, done: () => void) => void;
  release: (messageId: number) => void;
  timers: Timers;
  onSaid: (answer: Answer, repeated: boolean) => void;
  onAcknowledged: (answer: Answer) => void;
}

/** A class, because there is one for each of many thousand devices. */
class PlannedAnswering implements Answering {
  readonly #parts: AnsweringParts;
  /** Made while offline; those already sent are kept by the link. */
  #unsent: { answer: Answer; payload: string }[] = [];
  /** Those that let a later one go first, and what ends that. */
  #heldBack: Map<number, () => void> | undefined;
  #held: Map<number, number> | undefined;
  #provoked = 0;

  constructor(parts: AnsweringParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#unsent.length + (this.#heldBack?.size ?? 0);
  }

  say(answer: Answer, plan: Plan | undefined, repeated: boolean): void {
    const { transactionId } = answer;
    const fault = plan?.fault;
    if (fault?.kind === 'never-answers' || this.#heldBack?.has(transactionId)) return;
    if (fault?.kind === 'answers-in-wrong-order' && !repeated) {
      this.#holdBack(answer, fault.delay);
      return;
    }
    if (fault?.kind === 'bad-payload' && !repeated) this.#provoke();
    if (fault?.kind === 'unknown-fields') this.#sendStrangely(answer);
    else this.#send(answer);
    this.#parts.onSaid(answer, repeated);
    if (plan?.twice && !repeated) this.#send(answer);
    for (const end of this.#heldBack?.values() ?? []) end();
    const messageId = this.letGo(transactionId);
    // What is published while a message is looked at goes out after that: its PUBACK then follows.
    if (messageId !== undefined) setImmediate(() => this.#parts.release(messageId));
  }

  hold(transactionId: number, messageId: number): void {
    this.#held ??= new Map();
    this.#held.set(transactionId, messageId);
  }

  letGo(transactionId: number): number | undefined {
    const messageId = this.#held?.get(transactionId);
    this.#held?.delete(transactionId);
    return messageId;
  }

  online(): void {
    for (const { answer, payload } of this.#unsent.splice(0)) this.#publish(answer, payload);
  }

  forget(): void {
    this.#unsent = [];
    this.#held = undefined;
    const heldBack = this.#heldBack;
    this.#heldBack = undefined;
    for (const end of heldBack?.values() ?? []) end();
  }

  isProvoked(): boolean {
    if (this.#provoked === 0) return false;
    this.#provoked -= 1;
    return true;
  }

  #holdBack(answer: Answer, delay: number): void {
    const { transactionId } = answer;
    this.#heldBack ??= new Map();
    const end = (): void => {
      cancel();
      // Unless it was forgotten.
      if (!this.#heldBack?.delete(transactionId)) return;
      this.#send(answer);
      this.#parts.onSaid(answer, false);
    };
    const cancel = this.#parts.timers.after(delay, end);
    this.#heldBack.set(transactionId, end);
  }

  #provoke(): void {
    if (!this.#parts.isOnline()) return;
    for (const payload of SPOILT) {
      this.#provoked += 1;
      this.#parts.publish(payload, () => {});
    }
  }

  #send(answer: Answer): void {
    this.#publish(answer, JSON.stringify(answer));
  }

  #sendStrangely(answer: Answer): void {
    // About the member of a wrong type.
    this.#provoked += 1;
    this.#publish(answer, JSON.stringify({ ...answer, ...STRANGE }));
  }

  #publish(answer: Answer, payload: string): void {
    const { isOnline, publish, onAcknowledged } = this.#parts;
    if (isOnline()) publish(payload, () => onAcknowledged(answer));
    else this.#unsent.push({ answer, payload });
  }
}

export const createAnswering = (parts: AnsweringParts): Answering => new PlannedAnswering(parts);
