/** A Map of at most `bound` entries: a new one beyond it drops the oldest. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, bound: number): void {
  map.set(key, value);
  if (map.size <= bound) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
