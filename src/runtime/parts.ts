/**
 * A part of the service that lives as long as the service does. A part leaves out the members that it does not need.
 */
export interface Part {
  /** Begins its work; called once, when all parts have been created. */
  start?(): void | Promise<void>;
  /** Resolves when the part has nothing left to do. */
  idle?(): Promise<void>;
  /** Ends the current work of the part; afterwards it does nothing more. */
  [Symbol.asyncDispose]?(): PromiseLike<void>;
}

/**
 * The parts of the service, each registered once, after the parts that it builds on. They are started in that order and
 * stopped in reverse order, also when one of them could not be created or started.
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
     * Resolves when no part has anything left to do. The work of one part may cause work for another, so rounds are
     * repeated until `progress` has the same value before and after a round.
     */
    async idle(progress: () => number): Promise<void> {
      let before: number;
      do {
        before = progress();
        for (const part of parts.toReversed()) await part.idle?.();
      } while (progress() !== before);
    },

    /** Hands over the duty to stop the parts: the caller disposes of the returned stack. */
    move: (): AsyncDisposable => stack.move(),

    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
