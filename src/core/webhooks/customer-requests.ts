import type { LookupFunction } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import { retryAfterSeconds } from './retry-schedule.ts';
import { createSender } from './sender.ts';
import { createSigner } from './signature.ts';

interface Options {
  clock: Clock;
  /** LAPEL_WEBHOOK_ALLOW_PRIVATE */
  allowPrivate: boolean;
  /** Milliseconds from the start of an attempt to the end of its answer. */
  timeoutMs?: number;
  /** How names become addresses; the system's way by default. */
  lookup?: LookupFunction;
}

export interface CustomerRequest {
  /** The webhook-id, the same in every attempt. */
  id: string;
  url: string;
  /** Those that sign it. */
  keys: readonly string[];
  /** JSON. */
  body: string;
}

/** What the customer answered, or why that is of no use; `retryAfterMs` is null when another attempt would not help. */
export type Reply = { value: unknown } | { failure: string; retryAfterMs: number | null };

export type CustomerRequests = ReturnType<typeof createCustomerRequests>;

// Milliseconds before another attempt, and how long Retry-After may put it off: a device waits for the answer.
const PAUSE = 1_000;
const LONGEST_PAUSE = 10_000;

const NOTHING = Buffer.alloc(0);
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Asks customers' URLs what the service needs to know (fileUploadGetUrl, callRecGetMultiPresignedUrl): posted and signed
 * as a webhook is, to the same addresses only; but the answer is read, and it must be whole and JSON.
 */
export function createCustomerRequests({ clock, allowPrivate, timeoutMs = 10_000, lookup }: Options) {
  const sender = createSender({ clock, allowPrivate, timeoutMs, ...(lookup && { lookup }) });
  const signedHeaders = createSigner();

  const pauseAfter = (retryAfter: string | null): number | null => {
    const pause = Math.max(PAUSE, Math.ceil(retryAfterSeconds(retryAfter, clock.now()) * 1000));
    return pause <= LONGEST_PAUSE ? pause : null;
  };

  return {
    /** One attempt; undefined when it was ended by `abortAll`. */
    async attempt({ id, url, keys, body }: CustomerRequest): Promise<Reply | undefined> {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'lapel',
        ...signedHeaders(id, clock.now(), body, keys),
      };
      const answer = await sender.post({ url, headers, body, readsAnswer: true });
      if (!answer) return undefined;
      const { statusCode, error, retryAfter } = answer;
      if (statusCode === null) return { failure: error ?? 'no answer', retryAfterMs: PAUSE };
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
        return refused('the answer is no JSON');
      }
    },

    /** Ends every attempt at once. */
    abortAll: sender.abortAll,

    [Symbol.asyncDispose]: sender[Symbol.asyncDispose],
  };
}
