/** Something did not come out as promised: the demo ends with exit code 1. */
export class BrokenPromise extends Error {}

const PATIENCE = 10_000;

export function check(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new BrokenPromise(`not as promised: ${promise}`);
}

/** Waits for something that was promised, but not for ever. */
export async function promised<Value>(value: Promise<Value>, promise: string): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new BrokenPromise(`not within ${PATIENCE / 1000} s: ${promise}`)), PATIENCE);
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}
