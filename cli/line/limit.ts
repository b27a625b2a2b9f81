import { type Given, readWhole } from './command-line.ts';
import type { Options } from './options.ts';

/** The option `--limit` of a list; `first` is the number of rows without it, by default all. */
export const limitOption = (first = Number.POSITIVE_INFINITY): Options => ({
  limit: { value: 'N', text: `show at most N rows (${first === Number.POSITIVE_INFINITY ? 'all' : first}; 0: all)` },
});

/** Reads the number of rows that a list shows; Infinity for all. Throws a UsageError. */
export function readLimit(given: Given, first = Number.POSITIVE_INFINITY): number {
  const text = given.text('limit');
  return (text === undefined ? first : readWhole('limit', text)) || Number.POSITIVE_INFINITY;
}
