/** A part of the service that lives as long as the service does. What it does not need it leaves out. */
export interface Part {
  /** Begins its work; called once, when all parts are there. */
  start?(): void | Promise<void>;
  /** Resolves when nothing is left for it to do. */
  idle?(): Promise<void>;
  /** Ends what it has in work; nothing more comes from it then. */
  [Symbol.asyncDispose]?(): PromiseLike<void>;
}

/**
 * The parts of the service, each registered once, after those that it builds on. They are started in that order, and
 * stopped in reverse; also when one of them could not be made, or started.
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
     * Resolves when no part has anything left to do. What one does may be work for another: rounds are made until
     * `progress` is the same after one as it was before.
     */
    async idle(progress: () => number): Promise<void> {
      let before: number;
      do {
        before = progress();
        for (const part of parts.toReversed()) await part.idle?.();
      } while (progress() !== before);
    },

    /** Whoever asks for it stops them from now on. */
    move: (): AsyncDisposable => stack.move(),

    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
