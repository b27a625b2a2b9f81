/** A sample of a row of unknown length: evenly spread, at most `bound` items, always the same ones for the same row. */
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
      // Every second one of the items goes, and of the coming ones.
      items = items.filter((_, index) => index % 2 === 1);
      step *= 2;
    },
    all: (): readonly Item[] => items,
  };
}
