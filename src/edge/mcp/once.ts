/** The most confirmations that are remembered; a proposal is valid for five minutes. */
const REMEMBERED = 1_000;

export interface Done {
  lines: readonly string[];
  /** True for every confirmation but the first. */
  isRepeated: boolean;
}

/**
 * Carries out each confirmed proposal once, however often and at how many places at once it is confirmed: the others get the
 * answer of the first. One that failed may be tried again. Other nodes know it by the Idempotency-Key, or by the state that
 * the change has made.
 */
export function createOnce() {
  const known = new Map<string, Promise<readonly string[]>>();

  return async (key: string, act: () => Promise<readonly string[]>): Promise<Done> => {
    const first = known.get(key);
    if (first) return { lines: await first, isRepeated: true };
    const work = act();
    known.set(key, work);
    const oldest = known.keys().next().value;
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    try {
      return { lines: await work, isRepeated: false };
    } catch (error) {
      known.delete(key);
      throw error;
    }
  };
}
