/** Adds an entry to a Map, and removes the oldest entry if the Map then has more than `bound` entries. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, bound: number): void {
  map.set(key, value);
  if (map.size <= bound) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
