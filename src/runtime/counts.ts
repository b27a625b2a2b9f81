/** Sums numbers by key. A key whose sum is 0 is forgotten, so that only the keys in use take memory. */
export function createCounts() {
  const sums = new Map<string, number>();
  return {
    of: (key: string): number => sums.get(key) ?? 0,

    /** Adds to the sum of a key, which never falls below 0; returns the new sum. */
    add(key: string, by: number): number {
      const sum = (sums.get(key) ?? 0) + by;
      if (sum > 0) sums.set(key, sum);
      else sums.delete(key);
      return Math.max(0, sum);
    },

    /** The key with the highest sum; undefined when there is none. */
    highest(): string | undefined {
      let most: [key: string | undefined, sum: number] = [undefined, 0];
      for (const entry of sums) if (entry[1] > most[1]) most = entry;
      return most[0];
    },
  };
}
