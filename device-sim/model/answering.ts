import type { Answer } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import type { Plan } from './plans.ts';

/** Unreadable messages: no text, half of an object, and a value of another kind. */
const SPOILT = [Buffer.from([0xff, 0xfe, 0x00]), '{"transactionId":', '["succeeded"]'] as const;
/** Members that no service knows, and an optional member of a wrong type. */
const STRANGE = { mood: 'good', sensors: [{ id: 1 }], progress: 'nearly' };

/**
 * Sends the answers of a device as the plan of each command says: with a fault the answer is missing, late or changed.
 */
export interface Answering {
  say(answer: Answer, plan: Plan | undefined, repeated: boolean): void;
  /** Remembers that the PUBACK of a command is sent only after its answer. */
  hold(transactionId: number, messageId: number): void;
  /** Forgets that; returns the id of the MQTT message whose PUBACK is still to be sent, if there is one. */
  letGo(transactionId: number): number | undefined;
  online(): void;
  forget(): void;
  /** The service has reported a fault in an answer; returns whether the device sent that fault on purpose. */
  isProvoked(): boolean;
  /** The number of answers that were not sent yet: they wait for a connection, or let a later answer go first. */
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

/** A class and not closures, because many thousand devices have one each and so share the methods. */
class PlannedAnswering implements Answering {
  readonly #parts: AnsweringParts;
  /**
   * Answers that were made while the device was offline. Answers that were sent and not acknowledged are kept by the
   * link instead.
   */
  #unsent: { answer: Answer; payload: string }[] = [];
  /** By transactionId: answers that let a later answer go first. The function sends the answer now. */
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
    if (fault?.kind === 'never-answers' || plan?.instead === 'never' || this.#heldBack?.has(transactionId)) return;
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
    // The answer leaves when the received message has been handled. The PUBACK must come after the answer, so it waits
    // for the next turn of the event loop.
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
      // A restart of the device may have removed the answer meanwhile.
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
    // The service reports that this answer has a member of a wrong type.
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
