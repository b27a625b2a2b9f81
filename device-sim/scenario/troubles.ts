/** More would not be read. */
const KEPT = 20;

/** What is strange or wrong, in words: the first ones, and how many more there were. */
export interface Troubles {
  add(text: string): void;
  readonly texts: readonly string[];
  readonly notShown: number;
}

export function createTroubles(): Troubles {
  const texts: string[] = [];
  let notShown = 0;
  return {
    add(text) {
      if (texts.length < KEPT) texts.push(text);
      else notShown += 1;
    },
    texts,
    get notShown() {
      return notShown;
    },
  };
}
