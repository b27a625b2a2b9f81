/** Nobody would read more. */
const KEPT = 20;

/** The first faults and strange events, in words, and the number of further ones. */
export interface Troubles {
  add(text: string): void;
  /** Each text once, with its count. */
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
