import { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';

/** A part of the service that exists as long as the service does. All members are optional. */
export interface Part {
  /** Begins its work; called once, when all parts have been created. */
  start?(): void | Promise<void>;
  /** Resolves when the part has nothing left to do. */
  idle?(): Promise<void>;
  /** Ends the work of the part. Afterwards the part does nothing more. */
  [Symbol.asyncDispose]?(): PromiseLike<void>;
}

/**
 * The parts of the service. A part is added after the parts that it uses. Parts are started in the order in which they
 * were added, and stopped in reverse order, also when one of them could not be created or started.
 */
export function createParts() {
  const stack = new AsyncDisposableStack();
  const parts: Part[] = [];

  return {
    add<Added extends Part>(part: Added): Added {
      parts.push(part);
      if (part[Symbol.asyncDispose]) stack.use(part as Added & AsyncDisposable);
      return part;
    },

    async start(): Promise<void> {
      for (const part of parts) await part.start?.();
    },

    /**
     * Resolves when no part has anything left to do. The work of one part may cause work for another. So all parts are
     * waited for again, until `progress` returns the same number before and after that.
     */
    async idle(progress: () => number): Promise<void> {
      let before: number;
      do {
        before = progress();
        for (const part of parts.toReversed()) await part.idle?.();
      } while (progress() !== before);
    },

    /** Passes the duty to stop the parts to the caller, who must dispose of the returned stack. */
    move: (): AsyncDisposable => stack.move(),

    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
