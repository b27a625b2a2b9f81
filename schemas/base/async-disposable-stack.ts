type Stack = globalThis.AsyncDisposableStack;

/** Node 22 has `Symbol.asyncDispose`, but no class that collects what must be disposed of. This is the part of it that is used. */
export class OwnStack implements Pick<Stack, 'disposed' | 'use' | 'defer' | 'move' | 'disposeAsync'> {
  #ends: (() => unknown)[] = [];
  #disposed = false;

  get disposed(): boolean {
    return this.#disposed;
  }

  use<T extends AsyncDisposable | Disposable | null | undefined>(value: T): T {
    this.#mustBeOpen();
    if (value === null || value === undefined) return value;
    const { [Symbol.asyncDispose]: later, [Symbol.dispose]: now } = value as Partial<AsyncDisposable & Disposable>;
    const end = later ?? now;
    if (typeof end !== 'function') throw new TypeError('the value cannot be disposed of');
    this.#ends.push(() => end.call(value));
    return value;
  }

  defer(end: () => PromiseLike<void> | void): void {
    this.#mustBeOpen();
    this.#ends.push(end);
  }

  move(): Stack {
    this.#mustBeOpen();
    const next = new OwnStack();
    next.#ends = this.#ends;
    this.#ends = [];
    this.#disposed = true;
    return next as unknown as Stack;
  }

  /** Disposes in reverse order. Every value is disposed of; afterwards the errors are thrown, the last one outside. */
  async disposeAsync(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    let failure: { error: unknown } | undefined;
    for (const end of this.#ends.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        failure = { error: failure ? suppressed(error, failure.error) : error };
      }
    }
    if (failure) throw failure.error;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }

  #mustBeOpen(): void {
    if (this.#disposed) throw new ReferenceError('the stack is already disposed of');
  }
}

/** Keeps both errors, in the members that a SuppressedError has. */
function suppressed(error: unknown, former: unknown): Error {
  const text = 'An error was suppressed during disposal.';
  return Object.assign(new Error(text), { name: 'SuppressedError', error, suppressed: former });
}

/** The class of the platform where it has one. */
export const AsyncDisposableStack = (globalThis.AsyncDisposableStack ?? OwnStack) as AsyncDisposableStackConstructor;
export type AsyncDisposableStack = Stack;
