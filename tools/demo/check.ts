/** The service did not do what was promised: the demo ends with exit code 1. */
export class BrokenPromise extends Error {}

const LONGEST_WAIT_MS = 10_000;

export function check(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new BrokenPromise(`not as promised: ${promise}`);
}

/** Waits for a promised result, but at most 10 s. */
export async function promised<Value>(value: Promise<Value>, promise: string): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new BrokenPromise(`not within ${LONGEST_WAIT_MS / 1000} s: ${promise}`)),
    LONGEST_WAIT_MS,
  );
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}
