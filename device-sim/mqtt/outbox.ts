/** A message at QoS 1 that the service has not acknowledged. */
export interface Outgoing {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly done: () => void;
}

/** Packet ids are 1 to 65,535 [MQTT-2.3.1-1]. */
const MOST_IDS = 65_535;

/**
 * What a device has to say, in its order: what was sent and is not acknowledged, by its packet id, and after that what
 * waits for room. A class, because there is one for each of many thousand devices.
 */
export class Outbox {
  #sent = new Map<number, Outgoing>();
  #waiting: Outgoing[] = [];
  #lastId = 0;

  /** Not acknowledged, sent or not. */
  get size(): number {
    return this.#sent.size + this.#waiting.length;
  }

  add(message: Outgoing): void {
    this.#waiting.push(message);
  }

  /** A packet id that nothing else has now [MQTT-2.3.1-2]. */
  freeId(): number {
    do this.#lastId = (this.#lastId % MOST_IDS) + 1;
    while (this.#sent.has(this.#lastId));
    return this.#lastId;
  }

  /** The next one that was not sent yet, with the packet id that it has from now on; undefined also while all are in use. */
  next(): { messageId: number; message: Outgoing } | undefined {
    // One id is left for a SUBSCRIBE.
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

  /** What a new connection has to send again, in the order of the first time [MQTT-4.6.0-1]. */
  sent(): IterableIterator<[number, Outgoing]> {
    return this.#sent.entries();
  }

  /** Nothing counts as sent any more: a clean session knows nothing of the last one [MQTT-3.1.2-6]. */
  unsend(): void {
    this.#waiting = [...this.#sent.values(), ...this.#waiting];
    this.#sent.clear();
  }

  /** Everything is as if it had never been. */
  clear(): void {
    this.#sent.clear();
    this.#waiting = [];
  }
}
