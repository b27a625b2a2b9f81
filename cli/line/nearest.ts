/** The edit distance of two words: insertions, deletions, replacements and swaps of neighbours. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) least = Math.min(least, beforeLast[column - 2]! + 1);
      current.push(least);
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length]!;
}

/**
 * The word that was probably meant: the only one that begins with `word`; otherwise the closest one, if at most a third
 * of its letters differ.
 */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const begun = words.filter((one) => word.length > 1 && one.startsWith(word));
  if (begun.length === 1) return begun[0];
  const near = words
    .map((one) => ({ one, wrong: distance(word.toLowerCase(), one.toLowerCase()) }))
    .filter(({ one, wrong }) => wrong <= Math.max(1, Math.floor(Math.max(word.length, one.length) / 3)))
    .sort((a, b) => a.wrong - b.wrong);
  return near[0]?.one;
}
