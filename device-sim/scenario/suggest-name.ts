/** The number of single letters that distinguish two words, up to `most`. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + same));
    }
    row = next;
  }
  return row[other.length]!;
}

/** A longer list helps nobody. */
const MOST_NAMES = 100;

/** The end of an error text about an unknown name: the name that was probably meant, and all valid names. */
export function suggestName(name: string, names: readonly string[]): string {
  const near = names
    .map((other) => ({ other, apart: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, apart }) => apart <= Math.max(2, Math.floor(other.length / 3)))
    .sort((a, b) => a.apart - b.apart)[0];
  const all = names.length > MOST_NAMES ? `there are ${names.length} others` : `there are ${names.join(', ')}`;
  return near ? `did you mean "${near.other}"? ${all}` : all;
}
