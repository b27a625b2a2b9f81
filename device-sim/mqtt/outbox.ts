/** A message at QoS 1 that the service has not acknowledged. */
export interface Outgoing {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly done: () => void;
}

/** Packet ids are 1 to 65,535 [MQTT-2.3.1-1]. */
const MOST_IDS = 65_535;

/**
 * The outgoing messages of a device, in their order: sent and unacknowledged ones by packet id, then those that wait
 * for room. A class and not closures, because many thousand devices have one each and so share the methods.
 */
export class Outbox {
  #sent = new Map<number, Outgoing>();
  #waiting: Outgoing[] = [];
  #lastId = 0;

  /** The number of unacknowledged messages, sent or not. */
  get size(): number {
    return this.#sent.size + this.#waiting.length;
  }

  add(message: Outgoing): void {
    this.#waiting.push(message);
  }

  /** The number of sent messages without their acknowledgement. */
  get unanswered(): number {
    return this.#sent.size;
  }

  /** A packet id that is not in use [MQTT-2.3.1-2]. */
  freeId(): number {
    do this.#lastId = (this.#lastId % MOST_IDS) + 1;
    while (this.#sent.has(this.#lastId));
    return this.#lastId;
  }

  /** The next unsent message, with its new packet id; undefined also while all ids are in use. */
  next(): { messageId: number; message: Outgoing } | undefined {
    // One id is reserved for a SUBSCRIBE.
    const message = this.#sent.size < MOST_IDS - 1 ? this.#waiting.shift() : undefined;
    if (!message) return undefined;
    const messageId = this.freeId();
    this.#sent.set(messageId, message);
    return { messageId, message };
  }

  acknowledged(messageId: number): Outgoing | undefined {
    const message = this.#sent.get(messageId);
    this.#sent.delete(messageId);
    return message;
  }

  /** The messages that a new connection sends again, in their first order [MQTT-4.6.0-1]. */
  sent(): IterableIterator<[number, Outgoing]> {
    return this.#sent.entries();
  }

  /** Marks all messages as unsent: a clean session knows nothing of the former one [MQTT-3.1.2-6]. */
  unsend(): void {
    this.#waiting = [...this.#sent.values(), ...this.#waiting];
    this.#sent.clear();
  }

  /** Forgets all messages. */
  clear(): void {
    this.#sent.clear();
    this.#waiting = [];
  }
}
