import { AsyncLocalStorage } from 'node:async_hooks';

export type Asking = ReturnType<typeof createAsking>;

const NOBODY: readonly string[] = ['', ''];

/**
 * Remembers for which developer and application the running code works, also far from the request. Shared resources use
 * this only to let callers take turns fairly.
 */
export function createAsking() {
  const storage = new AsyncLocalStorage<readonly string[]>();
  return {
    /** Runs `work` on behalf of an application. */
    run: <Result>(developerId: string, applicationId: string, work: () => Result): Result =>
      storage.run([developerId, applicationId], work),
    /** The developerId and applicationId that the running code works for, as the path of a fair queue. */
    whose: (): readonly string[] => storage.getStore() ?? NOBODY,
  };
}
