/** A message from or to a device, as it was on its topic. */
export interface SeenMessage {
  deviceId: string;
  direction: 'in' | 'out';
  topic: string;
  qos: number;
  payload: string | Buffer;
}

/** Gets notice of changes and messages, for live views. */
export interface Watcher {
  transaction(transactionId: number): void;
  device(deviceId: string): void;
  message(message: SeenMessage): void;
}

const NOBODY: Watcher = { transaction: () => undefined, device: () => undefined, message: () => undefined };

/**
 * Tells a watcher about changes, for live views. The counters say whether anybody looks; the parts that change
 * something check them first, so a change costs only that check while nobody looks.
 */
export class Watch {
  /** The number of viewers of transactions, of devices and of messages. */
  transactions = 0;
  devices = 0;
  messages = 0;
  #watcher: Watcher = NOBODY;

  /** Sets the watcher, of which there is one. */
  tell(watcher: Watcher): void {
    this.#watcher = watcher;
  }

  /** A transaction has changed, and the change is committed. */
  transaction(transactionId: number): void {
    this.#watcher.transaction(transactionId);
  }

  /** A device has changed: it connected, disconnected or reported something. */
  device(deviceId: string): void {
    this.#watcher.device(deviceId);
  }

  message(message: SeenMessage): void {
    this.#watcher.message(message);
  }
}
