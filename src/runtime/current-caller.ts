import { AsyncLocalStorage } from 'node:async_hooks';

export type Asking = ReturnType<typeof createAsking>;

const NOBODY: readonly string[] = ['', ''];

/**
 * Knows for which developer and application the current code runs, even in places far from the request. Shared
 * resources use it to let callers take turns fairly; it is used for nothing else.
 */
export function createAsking() {
  const storage = new AsyncLocalStorage<readonly string[]>();
  return {
    /** Runs `work` in the name of an application. */
    run: <Result>(developerId: string, applicationId: string, work: () => Result): Result =>
      storage.run([developerId, applicationId], work),
    /** The developer and application of the running code, as a path of a fair queue. */
    whose: (): readonly string[] => storage.getStore() ?? NOBODY,
  };
}
