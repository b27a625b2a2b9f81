/** A message at QoS 1 that the service has not acknowledged. */
export interface Outgoing {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly done: () => void;
}

/**
 * What a device has to say, in its order: what was sent and is not acknowledged, by its packet id, and after that what
 * waits for room.
 */
export interface Outbox {
  /** Not acknowledged, sent or not. */
  readonly size: number;
  add(message: Outgoing): void;
  /** The next one that was not sent yet, with the packet id that it has from now on; undefined also while all ids are in use. */
  next(): { messageId: number; message: Outgoing } | undefined;
  /** A packet id that nothing else has now [MQTT-2.3.1-2]. */
  freeId(): number;
  acknowledged(messageId: number): Outgoing | undefined;
  /** What a new connection has to send again, in the order of the first time [MQTT-4.6.0-1]. */
  sent(): IterableIterator<[number, Outgoing]>;
  /** Nothing counts as sent any more: a clean session knows nothing of the last one [MQTT-3.1.2-6]. */
  unsend(): void;
  /** Everything is as if it had never been. */
  clear(): void;
}

const MOST_IDS = 65_535;

export function createOutbox(): Outbox {
  const sent = new Map<number, Outgoing>();
  let waiting: Outgoing[] = [];
  let lastId = 0;

  function freeId(): number {
    do lastId = (lastId % MOST_IDS) + 1;
    while (sent.has(lastId));
    return lastId;
  }

  return {
    get size() {
      return sent.size + waiting.length;
    },
    add: (message) => void waiting.push(message),
    next() {
      // One id is left for a SUBSCRIBE.
      const message = sent.size < MOST_IDS - 1 ? waiting.shift() : undefined;
      if (!message) return undefined;
      const messageId = freeId();
      sent.set(messageId, message);
      return { messageId, message };
    },
    freeId,
    acknowledged(messageId) {
      const message = sent.get(messageId);
      sent.delete(messageId);
      return message;
    },
    sent: () => sent.entries(),
    unsend() {
      waiting = [...sent.values(), ...waiting];
      sent.clear();
    },
    clear() {
      sent.clear();
      waiting = [];
    },
  };
}
