/**
 * Keeps a sample of items whose number is not known in advance: at most `bound` of them, evenly spread. The same
 * sequence of items gives the same sample.
 */
export function createSample<Item>(bound: number) {
  let items: Item[] = [];
  let step = 1;
  let seen = 0;
  return {
    add(item: Item): void {
      seen += 1;
      if (seen % step !== 0) return;
      items.push(item);
      if (items.length <= bound) return;
      // The sample is full: from now on it keeps half as many of the items, both of the earlier and of the coming ones.
      items = items.filter((_, index) => index % 2 === 1);
      step *= 2;
    },
    all: (): readonly Item[] => items,
  };
}
