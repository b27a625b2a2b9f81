import { AsyncLocalStorage } from 'node:async_hooks';

export type Asking = ReturnType<typeof createAsking>;

const NOBODY: readonly string[] = ['', ''];

/**
 * Who asks, for what shares a thread or a turn between them and is far from the request: a developer and an application.
 * It decides on nothing but whose turn it is.
 */
export function createAsking() {
  const storage = new AsyncLocalStorage<readonly string[]>();
  return {
    /** Carries something out in the name of an application. */
    run: <Result>(developerId: string, applicationId: string, work: () => Result): Result =>
      storage.run([developerId, applicationId], work),
    /** Whose it is that is being carried out, as a path of a fair queue. */
    whose: (): readonly string[] => storage.getStore() ?? NOBODY,
  };
}
