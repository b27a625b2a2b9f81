/** The outcome of a request. */
export type Outcome<Value> = { readonly value: Value } | { readonly error: Error };

/**
 * Makes requests of which only the newest counts: each one aborts the one before, whose answer is dropped even when it
 * arrives later.
 */
export function createNewest<Value>(told: (outcome: Outcome<Value>) => void) {
  let stop = new AbortController();
  return {
    ask(load: (signal: AbortSignal) => Promise<Value>): void {
      stop.abort();
      stop = new AbortController();
      const { signal } = stop;
      const tell = (outcome: Outcome<Value>): void => {
        if (!signal.aborted) told(outcome);
      };
      load(signal).then(
        (value) => tell({ value }),
        (error: Error) => tell({ error }),
      );
    },
    stop: (): void => stop.abort(),
  };
}
