import { draw, type Random } from '../random.ts';
import type { Timers } from '../timers.ts';
import type { ConditionsNow } from './conditions.ts';
import type { Certificate, Wire, WireEnd } from './wire.ts';

/** Bytes on their way in one direction; above this the sender has to wait, as with a full buffer of a socket. */
const MOST_BYTES = 64 * 1024;

/** One direction of a network: hands chunks over in their order, each as late as the conditions say. */
class Lane {
  readonly #conditions: ConditionsNow;
  readonly #random: Random;
  readonly #timers: Timers;
  readonly #deliver: (chunk: Buffer) => void;
  readonly #onRoom: () => void;
  readonly #queue: { readonly chunk: Buffer; readonly due: number }[] = [];
  #bytes = 0;
  #lastDue = 0;
  #cancel: (() => void) | undefined;
  #isHeld = false;
  #whenEmpty: (() => void) | undefined;

  constructor(
    network: { conditions: ConditionsNow; random: Random; timers: Timers },
    deliver: (chunk: Buffer) => void,
    onRoom: () => void,
  ) {
    this.#conditions = network.conditions;
    this.#random = network.random;
    this.#timers = network.timers;
    this.#deliver = deliver;
    this.#onRoom = onRoom;
  }

  get isFull(): boolean {
    return this.#bytes >= MOST_BYTES;
  }

  add(chunk: Buffer): void {
    const { delay = { min: 0, max: 0 }, bytesPerSecond = null, medium } = this.#conditions() ?? {};
    const now = this.#timers.now();
    const sending = bytesPerSecond === null ? 0 : (1000 * chunk.length) / bytesPerSecond;
    const travel = draw(this.#random, delay);
    // A chunk is sent after the one before it, and then travels. None overtakes another.
    const due = medium
      ? Math.max(medium.take(now, sending) + travel, this.#lastDue)
      : Math.max(now + travel, this.#lastDue) + sending;
    this.#lastDue = due;
    if (due <= now && this.#queue.length === 0 && !this.#isHeld) {
      this.#deliver(chunk);
      return;
    }
    this.#bytes += chunk.length;
    this.#queue.push({ chunk: Buffer.from(chunk), due }); // copied, because the buffer may be used again
    this.#next();
  }

  /** Hands nothing over until it is called with false. */
  hold(held: boolean): void {
    this.#isHeld = held;
    this.#next();
  }

  /** Calls `task` when nothing is on its way any more. */
  afterwards(task: () => void): void {
    if (this.#queue.length === 0) task();
    else this.#whenEmpty = task;
  }

  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#queue.length = 0;
    this.#whenEmpty = undefined;
  }

  #next(): void {
    if (this.#cancel || this.#isHeld) return;
    const first = this.#queue[0];
    if (!first) return;
    this.#cancel = this.#timers.after(Math.max(0, first.due - this.#timers.now()), () => this.#arrive());
  }

  #arrive(): void {
    this.#cancel = undefined;
    if (this.#isHeld) return;
    const first = this.#queue.shift();
    if (!first) return;
    const wasFull = this.isFull;
    this.#bytes -= first.chunk.length;
    this.#deliver(first.chunk);
    if (wasFull && !this.isFull) this.#onRoom();
    if (this.#queue.length === 0) {
      const task = this.#whenEmpty;
      this.#whenEmpty = undefined;
      task?.();
    }
    this.#next();
  }
}

/**
 * Connects through a network with delay and limited bandwidth. Bytes keep their order, and a slow network makes both
 * sides wait. `destroy` loses the bytes on their way, as a broken connection does.
 */
export function degraded(
  connect: (end: WireEnd, certificate?: Certificate) => Wire,
  network: { conditions: ConditionsNow; random: Random; timers: Timers },
): (end: WireEnd, certificate?: Certificate) => Wire {
  return (end, certificate) => {
    let real: Wire;
    const away = new Lane(
      network,
      (chunk) => void real.write(chunk),
      () => end.onDrain(wire),
    );
    const home = new Lane(
      network,
      (chunk) => end.onBytes(wire, chunk),
      () => real.resume(),
    );
    const wire: Wire = {
      write(chunk: string | Uint8Array) {
        away.add(typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer));
        return !away.isFull;
      },
      cork: () => {},
      uncork: () => {},
      end() {
        away.afterwards(() => real.end());
        return wire as never;
      },
      destroy() {
        away.clear();
        home.clear();
        real.destroy();
        return wire as never;
      },
      pause() {
        home.hold(true);
        real.pause();
        return wire as never;
      },
      resume() {
        home.hold(false);
        if (!home.isFull) real.resume();
        return wire as never;
      },
    };
    real = connect(
      {
        onOpen: () => end.onOpen(wire),
        onBytes(_, bytes) {
          home.add(bytes);
          if (home.isFull) real.pause();
        },
        onDrain: () => {},
        onClose(_, error) {
          away.clear();
          home.afterwards(() => end.onClose(wire, error));
        },
      },
      certificate,
    );
    return wire;
  };
}
