/** A message from or to a device, as it was published on its topic. */
export interface SeenMessage {
  deviceId: string;
  direction: 'in' | 'out';
  topic: string;
  qos: number;
  payload: string | Buffer;
}

/** Is told of changes and messages, to pass them to the readers of the feed. */
export interface Watcher {
  transaction(transactionId: number): void;
  device(deviceId: string): void;
  message(message: SeenMessage): void;
}

const NOBODY: Watcher = { transaction: () => undefined, device: () => undefined, message: () => undefined };

/**
 * Passes changes and messages to the feed. The counters say how many readers the feed has. Code that changes something
 * must check them first, so that a change costs only this check while the feed has no reader.
 */
export class Watch {
  /** The number of readers of the feed that follow transactions; likewise below for devices and messages. */
  transactions = 0;
  devices = 0;
  messages = 0;
  #watcher: Watcher = NOBODY;

  /** Sets the watcher that is told of changes from now on. There is only one: the feed. */
  tell(watcher: Watcher): void {
    this.#watcher = watcher;
  }

  /** Called when a transaction has changed, after the commit. */
  transaction(transactionId: number): void {
    this.#watcher.transaction(transactionId);
  }

  /** Called when a device has connected, disconnected or reported something. */
  device(deviceId: string): void {
    this.#watcher.device(deviceId);
  }

  message(message: SeenMessage): void {
    this.#watcher.message(message);
  }
}
