import { type Ids, randomIds } from '../src/runtime/ids.ts';

/** Identifiers that rise in the order of the calls, also within a millisecond. */
export function risingIds(): Ids {
  let made = 0;
  return {
    ...randomIds,
    next(prefix) {
      made += 1;
      return `${prefix}_${String(made).padStart(32, '0')}`;
    },
  };
}
