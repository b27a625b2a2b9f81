import type { Timers } from '../timers.ts';
import type { OddCalls } from './odd-calls.ts';

/**
 * The time in milliseconds before the expiry of a token in which both answers are right, because the service counts
 * from a little earlier than the customer.
 */
const UNSURE_MILLISECONDS = 60_000;

/** The state of the first token: valid although there is a newer one, expired, or neither of them for certain. */
type State = 'replaced' | 'expired' | 'unsure';

/**
 * The first access token of a run, which is used again when newer ones exist, and when it has expired. It is used once
 * at the beginning as well, because a service may remember the tokens that it has verified.
 */
export function createFirstToken({ newToken, readSettings }: OddCalls, timers: Timers) {
  let first: Promise<{ token: string; seconds: number; until: number }> | undefined;
  let known: Awaited<typeof first>;
  let isNews = false;

  async function request(): Promise<{ token: string; seconds: number; until: number }> {
    const { token, seconds } = await newToken();
    const until = timers.now() + seconds * 1000;
    await readSettings(token);
    known = { token, seconds, until };
    isNews = true;
    return known;
  }

  function state(): State {
    if (!known) return 'unsure';
    const left = known.until - timers.now();
    if (left <= 0) return 'expired';
    return left > UNSURE_MILLISECONDS ? 'replaced' : 'unsure';
  }

  return {
    /**
     * Requests the token, at the first call, and resolves to its validity in seconds, once. A failure shows in the calls of
     * the actions, so it is ignored here.
     */
    async keep(): Promise<number | undefined> {
      first ??= request();
      await first.catch(() => {
        first = undefined;
      });
      if (!isNews) return undefined;
      isNews = false;
      return known?.seconds;
    },
    state,
    /** Calls the service with the token; a token that has not expired is replaced by a newer one before. */
    async use(): Promise<unknown> {
      const { token } = known!;
      if (state() !== 'expired') await newToken();
      return readSettings(token);
    },
  };
}
