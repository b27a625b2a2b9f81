/** The most different texts that are kept, because nobody would read more. */
const KEPT = 20;

/** Collects the first faults and strange events of a run as texts, and counts the further ones. */
export interface Troubles {
  add(text: string): void;
  /** The texts without repetitions; one that came several times says how often. */
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
