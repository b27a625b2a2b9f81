import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Random } from '@lapel/device-sim/random';
import { BEGIN, type WorldTime } from './time.ts';

const require = createRequire(import.meta.url);

/** A timer of the world, with the functions of Node's. It keeps nothing alive, because the world ends by itself. */
class WorldTimer {
  /** The present world: a library may set a timer anew that it has had in a former one. */
  readonly #time: () => WorldTime;
  readonly #milliseconds: number;
  readonly #task: () => void;
  readonly #repeats: boolean;
  #cancel: () => void = () => undefined;

  constructor(time: () => WorldTime, milliseconds: number, task: () => void, repeats: boolean) {
    this.#time = time;
    this.#milliseconds = milliseconds >= 1 && milliseconds <= 2_147_483_647 ? Math.trunc(milliseconds) : 1;
    this.#task = task;
    this.#repeats = repeats;
    this.refresh();
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#time().plan(this.#milliseconds, 'timer', () => {
      if (this.#repeats) this.refresh();
      this.#task();
    });
    return this;
  }

  close(): this {
    this.#cancel();
    this.#cancel = () => undefined;
    return this;
  }

  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  [Symbol.dispose](): void {
    this.close();
  }
}

const close = (timer: unknown): void => {
  if (timer instanceof WorldTimer) timer.close();
};

/** A promise that a function settles later, unless the signal is aborted before. */
function pauseOf<Value>(plan: (done: () => void) => () => void, value: Value, signal?: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new DOMException('The operation was aborted', 'AbortError'));
    const cancel = plan(() => {
      signal?.removeEventListener('abort', abort);
      resolve(value);
    });
    const abort = (): void => {
      cancel();
      reject(Object.assign(new DOMException('The operation was aborted', 'AbortError'), { cause: signal?.reason }));
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Bytes of a seed, in place of those of the system. */
export function bytesOf(random: Random, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count);
  for (let at = 0; at < count; at += 1) bytes[at] = Math.trunc(random() * 256);
  return bytes;
}

/** A UUID of a seed. */
export function uuidOf(random: Random): `${string}-${string}-${string}-${string}-${string}` {
  const hex = bytesOf(random, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/**
 * Replaces time, timers and chance of this whole process by those of a world: of its own code, of the libraries, and of
 * Node's modules where they look these functions up when they are called. There is no way back.
 */
export function replaceTimers(time: () => WorldTime, chance: () => { numbers: Random; bytes: Random }): void {
  const random = (): Random => chance().bytes;
  const RealDate = Date;
  const wall = (): number => Math.floor(BEGIN + time().now + time().program.ahead);
  class WorldDate extends RealDate {
    constructor(...given: [] | [number | string | Date]) {
      if (given.length === 0) super(wall());
      else super(...(given as [number]));
    }
    static override now = wall;
  }
  globalThis.Date = WorldDate as DateConstructor;
  performance.now = () => 1 + time().now;

  type Task = (...values: unknown[]) => void;
  const setTimeout = (task: Task, milliseconds = 1, ...values: unknown[]): WorldTimer =>
    new WorldTimer(time, milliseconds, () => task(...values), false);
  const setInterval = (task: Task, milliseconds = 1, ...values: unknown[]): WorldTimer =>
    new WorldTimer(time, milliseconds, () => task(...values), true);
  const setImmediate = (task: Task, ...values: unknown[]): object => ({
    cancel: time().plan(0, 'immediate', () => task(...values)),
    ref: () => undefined,
    unref: () => undefined,
  });
  const clearImmediate = (given: unknown): void => (given as { cancel?(): void } | undefined)?.cancel?.();
  const callbacks = {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout: close,
    clearInterval: close,
    clearImmediate,
  };
  const later = { signal: undefined as AbortSignal | undefined };
  const promises = {
    setTimeout: <Value>(milliseconds = 1, value?: Value, { signal } = later) =>
      pauseOf((done) => time().plan(Math.max(1, milliseconds), 'timer', done), value, signal),
    setImmediate: <Value>(value?: Value, { signal } = later) =>
      pauseOf((done) => time().plan(0, 'immediate', done), value, signal),
  };
  Object.assign(globalThis, callbacks);
  Object.assign(require('node:timers') as object, callbacks);
  Object.assign(require('node:timers/promises') as object, promises);
  AbortSignal.timeout = (milliseconds) => {
    const controller = new AbortController();
    time().plan(milliseconds, 'timer', () =>
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    );
    return controller.signal;
  };

  Math.random = () => chance().numbers();
  const crypto = require('node:crypto') as typeof import('node:crypto');
  const { webcrypto } = crypto;
  Object.assign(crypto, {
    randomBytes: (count: number) => bytesOf(random(), count),
    randomUUID: () => uuidOf(random()),
    randomInt: (low: number, high?: number) => {
      const [from, to] = high === undefined ? [0, low] : [low, high];
      return from + Math.trunc(chance().numbers() * (to - from));
    },
  });
  webcrypto.randomUUID = () => uuidOf(random());
  webcrypto.getRandomValues = (array) => {
    if (array)
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytesOf(random(), array.byteLength));
    return array;
  };
  syncBuiltinESMExports();
}
