import type { Clock } from '../../runtime/clock.ts';
import { BURST_SECONDS, createTokenBuckets, type LimitShares } from '../../runtime/token-buckets.ts';

export interface RateLimitVerdict {
  allowed: boolean;
  /** Seconds until the caller may send its next request; 0 when this request is allowed. */
  waitSeconds: number;
  /** `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers); with `Retry-After` when refused. */
  headers: Record<string, string>;
}

export type RateLimit = ReturnType<typeof createRateLimit>;

interface Options {
  clock: Clock;
  name: string;
  perSecond: number;
  /** Divides the limits among the nodes; undefined without a cluster. */
  shares?: LimitShares | undefined;
}

/** The rate limit of callers, with its HTTP headers. Nothing is limited when `perSecond` is 0. */
export function createRateLimit({ clock, name, perSecond, shares }: Options) {
  const buckets = createTokenBuckets({ clock, perSecond, share: shares?.(name, perSecond) });

  return {
    /** Counts one request of a caller. Undefined when `perSecond` is 0. */
    take(caller: string): RateLimitVerdict | undefined {
      const taken = buckets.take(caller);
      if (!taken) return undefined;
      const { allowed, left, waitSeconds, fullSeconds } = taken;
      const headers: Record<string, string> = {
        'RateLimit-Policy': `"${name}";q=${buckets.size()};w=${BURST_SECONDS}`,
        RateLimit: `"${name}";r=${left};t=${fullSeconds}`,
      };
      if (!allowed) headers['Retry-After'] = String(waitSeconds);
      return { allowed, waitSeconds, headers };
    },
  };
}
