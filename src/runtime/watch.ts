/** A message of a device, or to one, as it was on its topic. */
export interface SeenMessage {
  deviceId: string;
  direction: 'in' | 'out';
  topic: string;
  qos: number;
  payload: string | Buffer;
}

/** Who wants to know. */
export interface Watcher {
  transaction(transactionId: number): void;
  device(deviceId: string): void;
  message(message: SeenMessage): void;
}

const NOBODY: Watcher = { transaction: () => undefined, device: () => undefined, message: () => undefined };

/**
 * What happens, for who looks at it live. Whoever has something to tell asks first whether somebody looks, which is all
 * that it costs while nobody does.
 */
export class Watch {
  /** Of those who look, how many look at transactions, at devices, at messages. */
  transactions = 0;
  devices = 0;
  messages = 0;
  #watcher: Watcher = NOBODY;

  /** From now on it is told; there is one. */
  tell(watcher: Watcher): void {
    this.#watcher = watcher;
  }

  /** Something of a transaction has changed, and is committed. */
  transaction(transactionId: number): void {
    this.#watcher.transaction(transactionId);
  }

  /** Something of a device has changed: it came, it went, it reported. */
  device(deviceId: string): void {
    this.#watcher.device(deviceId);
  }

  message(message: SeenMessage): void {
    this.#watcher.message(message);
  }
}
