import type { Clock } from './clock.ts';

export interface Take {
  allowed: boolean;
  /** The number of requests that the owner may still make now. */
  left: number;
  /** Seconds until the request is allowed; 0 when it is allowed now. */
  waitSeconds: number;
  /** Seconds until the bucket is full again. */
  fullSeconds: number;
}

export type TokenBuckets = ReturnType<typeof createTokenBuckets>;

/**
 * The most owners (such as applications or addresses) whose buckets are remembered. Above that, the bucket of the owner
 * that made no request for longest is forgotten; it is full by then, or nearly.
 */
const KEPT_BUCKETS = 10_000;
/**
 * The requests of this many seconds fit into a bucket. An owner that made none for a while may make so many at once.
 */
export const BURST_SECONDS = 2;

interface Limits {
  clock: Clock;
  perSecond: number;
  /** The requests that fit into a bucket; by default those of BURST_SECONDS. */
  size?: number;
  /** The number of nodes that the limit is divided among in equal parts. */
  nodes?: () => number;
  /** Set when nodes divide the limit by the actual use of each node, and not in equal parts. */
  share?: LimitShare | undefined;
}

/** The part of a limit that this node may use, while other nodes use the rest. */
export interface LimitShare {
  nodes(): number;
  /** The requests per second that an owner may make to this node. */
  perSecond(owner: string): number;
  /** Called when requests of an owner were allowed by this node, so that the other nodes learn of them. */
  took(owner: string, cost: number): void;
}

/** Creates the part of this node in a limit; `name` is the same on all nodes. */
export type LimitShares = (name: string, perSecond: number) => LimitShare;

const ONE = (): number => 1;

/**
 * Limits requests with a token bucket for each owner: `perSecond` on average, and by default twice as many at once
 * after a pause. With `perSecond` 0 nothing is limited.
 */
export function createTokenBuckets(limits: Limits) {
  const { clock, perSecond: ofAll, size: sizeOfAll = ofAll * BURST_SECONDS, share } = limits;
  const { nodes = share?.nodes ?? ONE } = limits;
  const buckets = new Map<string, { tokens: number; at: number }>();
  // This one iterator is used for ever. All entries that it has passed are deleted, so its next entry is always the
  // oldest. A new iterator would have to pass all deleted entries again.
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
    buckets.delete(owner); // deleted before it is set again, so that the map stays in the order of the last requests
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
    /** The requests that fit into a bucket of this node. */
    size: (): number => Math.max(1, Math.floor(sizeOfAll / nodes())),
    /**
     * Counts a request of an owner, or `cost` requests; a negative cost gives requests back. Undefined when nothing is
     * limited.
     */
    take: (owner: string, cost = 1): Take | undefined => (ofAll === 0 ? undefined : take(owner, cost)),
  };
}
