/** More would not be read. */
const KEPT = 20;

/** What is strange or wrong, in words: the first ones, and how many more there were. */
export interface Troubles {
  add(text: string): void;
  /** Each once, with how often it was there. */
  readonly texts: readonly string[];
  readonly notShown: number;
}

export function createTroubles(): Troubles {
  const counts = new Map<string, number>();
  let notShown = 0;
  return {
    add(text) {
      if (counts.has(text) || counts.size < KEPT) counts.set(text, (counts.get(text) ?? 0) + 1);
      else notShown += 1;
    },
    get texts() {
      return [...counts].map(([text, times]) => (times === 1 ? text : `${text} (${times} times)`));
    },
    get notShown() {
      return notShown;
    },
  };
}
