import { DomainError, type ErrorCode } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createTokenBuckets, type LimitShares } from '../../runtime/token-buckets.ts';

const WRONG_CREDENTIALS: ReadonlySet<ErrorCode> = new Set([
  'TOKEN_INVALID',
  'ADMIN_TOKEN_INVALID',
  'SESSION_ENDED',
  'CLIENT_INVALID',
  'ENROLMENT_REFUSED',
]);
/**
 * Milliseconds by which the answer to a wrong credential above the limit is delayed. It slows down a client that
 * guesses credentials one after another.
 */
const DELAY_MS = 1_000;

interface Parts {
  clock: Clock;
  name: string;
  /**
   * Requests with wrong credentials that are allowed per second, from one address and for one application; 0 is no
   * limit.
   */
  perSecond: number;
  /** Divides the limits among the nodes; undefined without a cluster. */
  shares?: LimitShares | undefined;
  metrics: Pick<Metrics, 'loginFailures' | 'httpRefused'>;
}

/**
 * Limits requests with wrong credentials. Correct credentials are recognised first and never limited, whatever others
 * send from the same address or for the same application.
 */
export function createLoginGuard({ clock, name, perSecond, shares, metrics }: Parts) {
  const bucketsOf = (whose: string) =>
    createTokenBuckets({ clock, perSecond, share: shares?.(`${name} failed logins ${whose}`, perSecond) });
  const addresses = bucketsOf('of an address');
  const applications = bucketsOf('of an application');
  const held = new Set<() => void>();
  let released = false;

  async function delay(): Promise<void> {
    if (released) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(DELAY_MS, resolve);
    held.add(resolve);
    await promise;
    cancel();
    held.delete(resolve);
  }

  return {
    /** True for the errors that count as wrong credentials. */
    concerns: ({ code }: DomainError): boolean => WRONG_CREDENTIALS.has(code),

    /**
     * Counts an error that means wrong credentials, and returns the error to answer with. Above the limit this is
     * RATE_LIMITED, after a delay.
     */
    async judge(error: DomainError, address: string): Promise<DomainError> {
      metrics.loginFailures.inc({ listener: name });
      const { applicationId } = error.values;
      const takes = [addresses.take(address), applicationId !== undefined && applications.take(String(applicationId))];
      const waits = takes.map((take) => (take && !take.allowed ? take.waitSeconds : 0));
      const seconds = Math.max(...waits);
      if (seconds === 0) return error;
      metrics.httpRefused.inc({ bound: 'login_failures' });
      await delay();
      return new DomainError('RATE_LIMITED', { values: { seconds }, cause: error });
    },

    /** Ends all delays, because the service is stopping. */
    release(): void {
      released = true;
      for (const resolve of held) resolve();
    },
  };
}
