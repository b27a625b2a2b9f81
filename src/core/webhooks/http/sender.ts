import type { LookupFunction } from 'node:net';
import type { Metrics } from '../../../metrics.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Micros } from '../../../runtime/units.ts';
import type { Answer } from '../retry-schedule.ts';
import { type Answered, LONGEST_BODY } from './answer-reader.ts';
import { createDirectExchanges } from './direct-exchanges.ts';
import type { Cut } from './exchange.ts';
import { describe } from './failure-words.ts';
import { createConnector } from './guarded-connect.ts';
import type { KeptConnections } from './kept-connections.ts';
import { createNodeExchanges } from './node-exchanges.ts';

const TOO_LONG = `the answer is longer than ${LONGEST_BODY / 1024} KiB`;
/** The most bytes that are kept of an answer without a 2xx status, for people who look for the reason. */
const BEGINNING = 4 * 1024;

const isGood = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;

interface Options {
  clock: Clock;
  metrics: Pick<Metrics, 'webhookMessages'>;
  /** Bounds the idle connections to receivers. */
  kept: KeptConnections;
  /** The setting LAPEL_WEBHOOK_DIRECT: whether messages go the direct way; otherwise Node's own client sends them. */
  direct: boolean;
  /** The setting LAPEL_WEBHOOK_ALLOW_PRIVATE: whether webhooks may go to private addresses. */
  allowPrivate: boolean;
  /** Milliseconds from the call to the end of the answer, with look-up and connection. */
  timeoutMs: number;
  /** Resolves names to addresses; the system's resolver by default. */
  lookup?: LookupFunction;
}

interface Message {
  url: string;
  /** The developer for whose application the message is sent. */
  owner: string;
  headers: Record<string, string>;
  body: string;
  /** Whether the body of the answer is read. A body that is incomplete or longer than 64 KiB is then an error. */
  readsAnswer?: boolean;
  /** Whether the beginning of an answer with a 2xx status is kept, too. */
  keepsBeginning?: boolean;
  /** Receives a function that ends the request without an answer, for the given reason. */
  cuttable?(cut: (why: string) => void): void;
}

interface Running {
  /** When the attempt is over, in microseconds. */
  until: Micros;
  /** Ends the request without an answer, for the given reason. */
  cut(why: string): void;
  /** Ends the request, so that its result is unknown. */
  abort(): void;
}

/**
 * Sends messages, one at a time per connection. It keeps connections for later messages, follows no redirect, and never
 * throws for the behaviour of a receiver. A receiver may close a kept connection just when a message is sent on it; then the
 * message is sent once more at once, within the same attempt. A request whose answer is read
 * (`readsAnswer`) is never repeated: it is sent exactly as often as the caller asks.
 */
export function createSender({ clock, metrics, kept, direct, allowPrivate, timeoutMs, lookup }: Options) {
  const connect = createConnector({ allowPrivate, timeoutMs, ...(lookup && { lookup }) });
  const exchanges = direct ? createDirectExchanges({ clock, connect, kept }) : createNodeExchanges({ connect });
  const way = direct ? 'direct' : 'node';
  const running = new Set<Running>();
  let stopTimeout: (() => void) | undefined;

  /** All attempts have the same time, so the one that began first is over first. One timer serves all of them. */
  function armTimeout(first: Running): void {
    stopTimeout = clock.after(Math.max(0, (first.until - clock.now()) / 1000), () => {
      stopTimeout = undefined;
      const now = clock.now();
      for (const each of running) {
        if (each.until > now) return armTimeout(each);
        each.cut(`no answer within ${timeoutMs / 1000} s`);
      }
    });
  }

  return {
    /**
     * Resolves with the answer, or with the reason why there is none; undefined when `abortAll` ended the request, so that
     * its result is unknown.
     */
    post: ({
      url,
      owner,
      headers,
      body,
      readsAnswer = false,
      keepsBeginning = false,
      cuttable,
    }: Message): Promise<Answer | undefined> =>
      new Promise((resolve) => {
        let stop: Cut | undefined;
        let over = false;

        const end = (result: Answer | undefined): void => {
          if (over) return;
          over = true;
          running.delete(attempt);
          if (running.size === 0) {
            stopTimeout?.();
            stopTimeout = undefined;
          }
          resolve(result);
        };

        /** Ends the attempt with an answer. The status of a webhook's answer counts even if its body is not complete. */
        const answered = ({ statusCode, retryAfter, body: bytes, isTooLong }: Answered): void => {
          const answer = { statusCode, retryAfter, error: null };
          if (readsAnswer) end(isTooLong ? { ...answer, error: TOO_LONG } : { ...answer, body: bytes });
          else if (keepsBeginning || !isGood(statusCode)) end({ ...answer, beginning: bytes.subarray(0, BEGINNING) });
          else end(answer);
        };
        /** Ends the attempt when the answer did not come, or was not completed. */
        const fail = (error: string, part: Answered | undefined): void => {
          if (part && !readsAnswer) answered(part);
          else end({ statusCode: null, retryAfter: null, error });
        };
        const abort = (): void => {
          end(undefined);
          stop?.();
        };
        const cut = (why: string): void => fail(why, stop?.());
        const attempt: Running = { until: clock.now() + timeoutMs * 1000, cut, abort };
        running.add(attempt);
        if (!stopTimeout) armTimeout(attempt);
        cuttable?.(cut);

        function begin(again: boolean): void {
          metrics.webhookMessages.inc({ way });
          stop = exchanges.send(
            url,
            { owner, headers, body, again },
            {
              answered,
              /** Sends the message once more when a kept connection has ended; otherwise the attempt has failed. */
              failed(cause, { wasKept = false, part }) {
                if (wasKept && !again && !readsAnswer && !over) begin(true);
                else fail(describe(cause), part);
              },
            },
          );
        }
        try {
          begin(false);
        } catch (cause) {
          fail(describe(cause as Error), undefined);
        }
      }),

    /** Ends every request at once; their results are unknown. */
    abortAll(): void {
      for (const { abort } of running) abort();
    },

    async [Symbol.asyncDispose](): Promise<void> {
      stopTimeout?.();
      exchanges.close();
    },
  };
}
