import type { LookupFunction } from 'node:net';
import type { Metrics } from '../../../metrics.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { retryAfterSeconds } from '../retry-schedule.ts';
import { createSigner } from '../signature.ts';
import type { KeptConnections } from './kept-connections.ts';
import { createSender } from './sender.ts';

interface Options {
  clock: Clock;
  metrics: Metrics;
  /** Bounds the idle connections to receivers. */
  kept: KeptConnections;
  /** The setting LAPEL_WEBHOOK_DIRECT. */
  direct: boolean;
  /** The setting LAPEL_WEBHOOK_ALLOW_PRIVATE: whether webhooks may go to private addresses. */
  allowPrivate: boolean;
  /** Milliseconds from the start of an attempt to the end of its answer. */
  timeoutMs?: number;
  /** Resolves names to addresses; the system's resolver by default. */
  lookup?: LookupFunction;
}

export interface CustomerRequest {
  /** The webhook-id, the same at every attempt. */
  id: string;
  url: string;
  /** The developer of the application. */
  owner: string;
  /** The keys that sign the request. */
  keys: readonly string[];
  /** JSON. */
  body: string;
}

/**
 * The customer's answer, or the reason why it cannot be used; `retryAfterMs` is null when another attempt would not help.
 */
export type Reply = { value: unknown } | { failure: string; retryAfterMs: number | null };

export type CustomerRequests = ReturnType<typeof createCustomerRequests>;

// Milliseconds before another attempt, and the longest delay that Retry-After may ask for: a device waits for the answer.
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;

const NOTHING = Buffer.alloc(0);
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Asks customers' URLs for data (fileUploadGetUrl, callRecGetMultiPresignedUrl). A request is posted and signed like a
 * webhook, and may only go to the same addresses; but its answer is read, and must be complete JSON.
 */
export function createCustomerRequests({ timeoutMs = 10_000, ...options }: Options) {
  const { clock } = options;
  const sender = createSender({ ...options, timeoutMs });
  const signedHeaders = createSigner();

  const pauseAfter = (retryAfter: string | null): number | null => {
    const pauseMs = Math.max(PAUSE_MS, Math.ceil(retryAfterSeconds(retryAfter, clock.wall()) * 1000));
    return pauseMs <= LONGEST_PAUSE_MS ? pauseMs : null;
  };

  return {
    /** Makes one attempt; returns undefined when `abortAll` ended it. */
    async attempt({ id, url, owner, keys, body }: CustomerRequest): Promise<Reply | undefined> {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'lapel',
        ...signedHeaders(id, clock.wall(), body, keys),
      };
      const answer = await sender.post({ url, owner, headers, body, readsAnswer: true });
      if (!answer) return undefined;
      const { statusCode, error, retryAfter } = answer;
      if (statusCode === null) return { failure: error ?? 'no answer', retryAfterMs: PAUSE_MS };
      if (statusCode >= 500 || statusCode === 429) {
        return { failure: `answered ${statusCode}`, retryAfterMs: pauseAfter(retryAfter) };
      }
      const refused = (failure: string): Reply => ({ failure, retryAfterMs: null });
      if (statusCode >= 300 && statusCode < 400) return refused(`answered ${statusCode}; redirects are not followed`);
      if (statusCode < 200 || statusCode >= 300) return refused(`answered ${statusCode}`);
      if (error !== null) return refused(error);
      try {
        return { value: JSON.parse(utf8.decode(answer.body ?? NOTHING)) };
      } catch {
        return refused('the answer is not JSON');
      }
    },

    /** Ends every attempt at once. */
    abortAll: sender.abortAll,

    [Symbol.asyncDispose]: sender[Symbol.asyncDispose],
  };
}
