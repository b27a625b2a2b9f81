/**
 * Groups the items by a property and returns the group with the most weight, in the order of the items. Without `weightOf`
 * each item weighs the same.
 */
export function largestGroup<Item>(
  items: Iterable<Item>,
  of: (item: Item) => unknown,
  weightOf: (item: Item) => number = () => 1,
): readonly Item[] {
  let largest: readonly Item[] = [];
  let most = Number.NEGATIVE_INFINITY;
  for (const group of Map.groupBy(items, of).values()) {
    const weight = group.reduce((sum, item) => sum + weightOf(item), 0);
    if (weight <= most) continue;
    largest = group;
    most = weight;
  }
  return largest;
}
