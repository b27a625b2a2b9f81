import { DomainError, type ErrorCode } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createTokenBuckets, type LimitShares } from '../../runtime/token-buckets.ts';

const WRONG_CREDENTIALS: ReadonlySet<ErrorCode> = new Set([
  'TOKEN_INVALID',
  'ADMIN_TOKEN_INVALID',
  'SESSION_ENDED',
  'CLIENT_INVALID',
]);
/** Milliseconds that an answer above the limit is held back: with one request at a time, so is whoever guesses. */
const HOLD = 1_000;

interface Parts {
  clock: Clock;
  name: string;
  /** Requests with wrong credentials per second of one address, and for one application; 0 is no limit. */
  perSecond: number;
  /** Where other processes have the same limit. */
  shares?: LimitShares | undefined;
  metrics: Pick<Metrics, 'loginFailures' | 'httpRefused'>;
}

/**
 * What wrong credentials cost whoever sends many of them. They are judged first, so whoever has the right ones is let in
 * whatever others send, from the same address or in the name of the same application.
 */
export function createLoginGuard({ clock, name, perSecond, shares, metrics }: Parts) {
  const bucketsOf = (whose: string) =>
    createTokenBuckets({ clock, perSecond, share: shares?.(`${name} failed logins ${whose}`, perSecond) });
  const addresses = bucketsOf('of an address');
  const applications = bucketsOf('of an application');
  const held = new Set<() => void>();
  let released = false;

  async function hold(): Promise<void> {
    if (released) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(HOLD, resolve);
    held.add(resolve);
    await promise;
    cancel();
    held.delete(resolve);
  }

  return {
    /** True for the errors that it wants to hear of. */
    concerns: ({ code }: DomainError): boolean => WRONG_CREDENTIALS.has(code),

    /** The error to answer with: the one given, or above the limit, after a while, RATE_LIMITED. */
    async judge(error: DomainError, address: string): Promise<DomainError> {
      metrics.loginFailures.inc({ listener: name });
      const { applicationId } = error.values;
      const takes = [addresses.take(address), applicationId !== undefined && applications.take(String(applicationId))];
      const waits = takes.map((take) => (take && !take.allowed ? take.waitSeconds : 0));
      const seconds = Math.max(...waits);
      if (seconds === 0) return error;
      metrics.httpRefused.inc({ bound: 'login_failures' });
      await hold();
      return new DomainError('RATE_LIMITED', { values: { seconds }, cause: error });
    },

    /** Holds nothing back any more: the service is stopping. */
    release(): void {
      released = true;
      for (const resolve of held) resolve();
    },
  };
}
