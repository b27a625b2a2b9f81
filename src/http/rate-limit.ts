import type { Clock } from '../clock.ts';

export interface RateLimitVerdict {
  allowed: boolean;
  /** Seconds after which the next request is allowed; 0 when this one is. */
  waitSeconds: number;
  /** `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers); with `Retry-After` when refused. */
  headers: Record<string, string>;
}

export type RateLimit = ReturnType<typeof createRateLimit>;

/** Callers are remembered up to this number; who has been silent for longest is forgotten first, with a full bucket. */
const KEPT_BUCKETS = 10_000;
/** The bucket holds so many seconds' worth: who was silent may send it at once. */
const BURST_SECONDS = 2;

/** A token bucket per caller: `perSecond` requests on average, twice that at once. Nothing is limited when it is 0. */
export function createRateLimit({ clock, name, perSecond }: { clock: Clock; name: string; perSecond: number }) {
  const size = perSecond * BURST_SECONDS;
  const buckets = new Map<string, { tokens: number; at: number }>();
  const policy = `"${name}";q=${size};w=${BURST_SECONDS}`;

  function take(caller: string): RateLimitVerdict {
    const now = clock.now();
    const before = buckets.get(caller) ?? { tokens: size, at: now };
    const refilled = before.tokens + ((now - before.at) / 1_000_000) * perSecond;
    const tokens = Math.min(size, Math.max(before.tokens, refilled));
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;
    buckets.delete(caller); // to the end: the order is that of the last request
    buckets.set(caller, { tokens: left, at: now });
    const [oldest] = buckets.keys();
    if (buckets.size > KEPT_BUCKETS && oldest !== undefined) buckets.delete(oldest);
    const waitSeconds = allowed ? 0 : Math.max(1, Math.ceil((1 - left) / perSecond));
    const full = Math.ceil((size - left) / perSecond);
    const headers: Record<string, string> = {
      'RateLimit-Policy': policy,
      RateLimit: `"${name}";r=${Math.floor(left)};t=${full}`,
    };
    if (!allowed) headers['Retry-After'] = String(waitSeconds);
    return { allowed, waitSeconds, headers };
  }

  return {
    /** Takes one request of a caller; undefined when nothing is limited. */
    take: (caller: string): RateLimitVerdict | undefined => (perSecond === 0 ? undefined : take(caller)),
  };
}
