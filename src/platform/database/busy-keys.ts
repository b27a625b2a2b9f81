/**
 * The devices whose units of work run at this moment, in whatever commit. Queues that share this object never run units of
 * one device at the same time: the second commit would only wait for the lock of the first, and with it all its other units.
 */
export function createBusyKeys() {
  const busy = new Set<string>();
  const told: ((keys: readonly string[]) => void)[] = [];
  return {
    isEmpty: (): boolean => busy.size === 0,
    has: (key: string): boolean => busy.has(key),
    take(keys: readonly string[]): void {
      for (const key of keys) busy.add(key);
    },
    free(keys: readonly string[]): void {
      for (const key of keys) busy.delete(key);
      for (const tell of told) tell(keys);
    },
    /** Registers a function that is called with keys that are free again. */
    onFree: (tell: (keys: readonly string[]) => void): unknown => told.push(tell),
  };
}

export type BusyKeys = ReturnType<typeof createBusyKeys>;
