import type { Clock } from './clock.ts';

export interface Take {
  allowed: boolean;
  /** Whole requests that are left. */
  left: number;
  /** Seconds until it is allowed; 0 when it is now. */
  waitSeconds: number;
  /** Seconds until the bucket is full again. */
  fullSeconds: number;
}

export type TokenBuckets = ReturnType<typeof createTokenBuckets>;

/** Owners are remembered up to this number; who has been silent for longest is forgotten first, with a full bucket. */
const KEPT_BUCKETS = 10_000;
/** A bucket holds so many seconds' worth: who was silent may send it at once. */
export const BURST_SECONDS = 2;

interface Limits {
  clock: Clock;
  perSecond: number;
  /** What may be taken at once. */
  size?: number;
  /** How many processes share the limit: each has an equal part of it. */
  nodes?: () => number;
  /** Where they share it by what each of them lets through. */
  share?: LimitShare | undefined;
}

/** What a process may let through of a limit that others have, too. */
export interface LimitShare {
  nodes(): number;
  /** Of an owner. */
  perSecond(owner: string): number;
  /** So much was let through. */
  took(owner: string, cost: number): void;
}

/** The shares of limits, by their names. */
export type LimitShares = (name: string, perSecond: number) => LimitShare;

const ONE = (): number => 1;

/** A token bucket for each owner: `perSecond` on average, by default twice that at once. Nothing is limited when it is 0. */
export function createTokenBuckets(limits: Limits) {
  const { clock, perSecond: ofAll, size: sizeOfAll = ofAll * BURST_SECONDS, share } = limits;
  const { nodes = share?.nodes ?? ONE } = limits;
  const buckets = new Map<string, { tokens: number; at: number }>();
  // Goes along with the map: all that it has passed is deleted, so its next one is the oldest. To begin anew each time
  // would mean to pass all those again.
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
    buckets.delete(owner); // to the end: the order is that of the last request
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
    /** What may be taken here at once. */
    size: (): number => Math.max(1, Math.floor(sizeOfAll / nodes())),
    /** Takes one, or so many, of an owner's (less than none gives back); undefined when nothing is limited. */
    take: (owner: string, cost = 1): Take | undefined => (ofAll === 0 ? undefined : take(owner, cost)),
  };
}
