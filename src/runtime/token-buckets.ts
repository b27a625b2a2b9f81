import type { Clock } from './clock.ts';

export interface Take {
  allowed: boolean;
  /** Whole requests that may be made now. */
  left: number;
  /** Seconds until the request is allowed; 0 when it is allowed now. */
  waitSeconds: number;
  /** Seconds until the bucket is full again. */
  fullSeconds: number;
}

export type TokenBuckets = ReturnType<typeof createTokenBuckets>;

/**
 * The most owners that are remembered. The one that was silent for longest is forgotten first; its bucket is full by
 * then, or nearly.
 */
const KEPT_BUCKETS = 10_000;
/** A bucket holds this many seconds' worth, so an owner that was silent may send as much at once. */
export const BURST_SECONDS = 2;

interface Limits {
  clock: Clock;
  perSecond: number;
  /** The capacity of a bucket; by default two seconds' worth. */
  size?: number;
  /** The number of processes that share the limit: each has an equal part of it. */
  nodes?: () => number;
  /** The share of this process; set where processes share the limit by actual use instead of equally. */
  share?: LimitShare | undefined;
}

/** The share of this process in a limit that several processes have. */
export interface LimitShare {
  nodes(): number;
  /** The rate for one owner in this process. */
  perSecond(owner: string): number;
  /** Called when this process has let requests of an owner through. */
  took(owner: string, cost: number): void;
}

/** Creates the share of a limit, by the name of the limit. */
export type LimitShares = (name: string, perSecond: number) => LimitShare;

const ONE = (): number => 1;

/**
 * A token bucket for each owner: `perSecond` on average, by default twice that in a burst. Nothing is limited when
 * `perSecond` is 0.
 */
export function createTokenBuckets(limits: Limits) {
  const { clock, perSecond: ofAll, size: sizeOfAll = ofAll * BURST_SECONDS, share } = limits;
  const { nodes = share?.nodes ?? ONE } = limits;
  const buckets = new Map<string, { tokens: number; at: number }>();
  // This iterator stays on the map: all entries that it has passed are deleted, so its next one is the oldest. A new
  // iterator would pass all deleted entries again each time.
  const oldest = buckets.keys();

  function take(owner: string, cost: number): Take {
    const now = clock.now();
    const perSecond = share ? share.perSecond(owner) : ofAll / nodes();
    const size = sizeOfAll / nodes();
    const before = buckets.get(owner) ?? { tokens: size, at: now };
    const refilled = before.tokens + ((now - before.at) / 1_000_000) * perSecond;
    const tokens = Math.min(size, Math.max(before.tokens, refilled));
    const allowed = tokens >= cost;
    const left = allowed ? tokens - cost : tokens;
    if (allowed) share?.took(owner, cost);
    buckets.delete(owner); // the entry moves to the end: the map is ordered by last requests
    buckets.set(owner, { tokens: left, at: now });
    if (buckets.size > KEPT_BUCKETS) {
      const { value } = oldest.next();
      if (value !== undefined) buckets.delete(value);
    }
    return {
      allowed,
      left: Math.floor(left),
      waitSeconds: allowed ? 0 : Math.max(1, Math.ceil((cost - left) / perSecond)),
      fullSeconds: Math.ceil((size - left) / perSecond),
    };
  }

  return {
    /** The capacity of a bucket in this process. */
    size: (): number => Math.max(1, Math.floor(sizeOfAll / nodes())),
    /**
     * Takes one token of an owner, or `cost` tokens (a negative cost gives tokens back); undefined when nothing is
     * limited.
     */
    take: (owner: string, cost = 1): Take | undefined => (ofAll === 0 ? undefined : take(owner, cost)),
  };
}
