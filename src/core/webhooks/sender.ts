import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { clientOfBegun } from './begun-socket.ts';
import { arePlain, createDirectExchanges, type Target } from './direct-exchanges.ts';
import { createConnector, keptConnectionEnded } from './guarded-connect.ts';
import type { Answer } from './retry-schedule.ts';

// Only the status of a webhook's answer is used; its body is read up to this length so that the connection can be reused.
const LONGEST_ANSWER = 64 * 1024;
const TOO_LONG = `the answer is longer than ${LONGEST_ANSWER / 1024} KiB`;
const LONGEST_ERROR = 200;
/** The most bytes that are kept of an answer without a 2xx status, for people who look for the reason. */
const BEGINNING = 4 * 1024;

const isGood = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;

interface Options {
  clock: Clock;
  /** The setting LAPEL_WEBHOOK_ALLOW_PRIVATE: whether webhooks may go to private addresses. */
  allowPrivate: boolean;
  /** Milliseconds from the call to the end of the answer, with look-up and connection. */
  timeoutMs: number;
  /** Resolves names to addresses; the system's resolver by default. */
  lookup?: LookupFunction;
}

interface Message {
  url: string;
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

/** The reason why there is no answer, in words for the application. It never names the address of a host. */
function describe(cause: Error & { address?: unknown; errors?: Error[] }): string {
  // A name with several addresses fails with one error for each, in an AggregateError without a message of its own.
  const [first] = cause instanceof AggregateError ? (cause.errors as (Error & { address?: unknown })[]) : [];
  if (first) return describe(first);
  if (cause.address !== undefined) return systemError(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  const text = cause.message === '' ? cause.name : cause.message;
  return (code === '' || text.includes(code) ? text : `${text} (${code})`).slice(0, LONGEST_ERROR);
}

const systemError = (cause: NodeJS.ErrnoException): string => `${cause.syscall ?? 'connect'} ${cause.code ?? 'failed'}`;

/**
 * Sends messages, one at a time per connection. It keeps connections for later messages, follows no redirect, and never
 * throws for the behaviour of a receiver. A receiver may close a kept connection just when a message is sent on it; then the
 * message is sent once more at once, within the same attempt. A request whose answer is read
 * (`readsAnswer`) is never repeated: it is sent exactly as often as the caller asks.
 */
export function createSender({ clock, allowPrivate, timeoutMs, lookup }: Options) {
  const connect = createConnector({ allowPrivate, timeoutMs, ...(lookup && { lookup }) });
  const agent = new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 }); // attempts have the only time limit
  const exchanges = createDirectExchanges({ clock, connect });
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
      headers,
      body,
      readsAnswer = false,
      keepsBeginning = false,
      cuttable,
    }: Message): Promise<Answer | undefined> =>
      new Promise((resolve) => {
        let answer: Answer | undefined;
        let received = 0;
        const chunks: Buffer[] = [];
        let stop: (() => void) | undefined;
        let over = false;
        let again = false;

        // undici cannot withdraw a request that has no connection yet; it is aborted when it gets one.
        const end = (result: Answer | undefined): void => {
          if (over) return;
          over = true;
          running.delete(attempt);
          if (running.size === 0) {
            stopTimeout?.();
            stopTimeout = undefined;
          }
          const hasBeginning = answer && !readsAnswer && wantsBeginning();
          resolve(
            result && hasBeginning ? { ...result, beginning: Buffer.concat(chunks).subarray(0, BEGINNING) } : result,
          );
        };
        const wantsBeginning = (): boolean => keepsBeginning || !isGood(answer?.statusCode ?? 0);
        /** Whether a chunk belongs to the beginning of the answer that is kept. */
        const wantsMore = (chunk: Buffer): boolean => wantsBeginning() && received - chunk.length < BEGINNING;
        const abort = (): void => {
          end(undefined);
          stop?.();
        };
        /** Ends the request when the answer did not come, or was not completed. */
        const fail = (error: string): void =>
          end(answer && !readsAnswer ? answer : { statusCode: null, retryAfter: null, error });
        const cut = (why: string): void => {
          fail(why);
          stop?.();
        };
        const attempt: Running = { until: clock.now() + timeoutMs * 1000, cut, abort };
        running.add(attempt);
        if (!stopTimeout) armTimeout(attempt);
        cuttable?.(cut);

        const handler = (): Dispatcher.DispatchHandler => ({
          onRequestStart(controller) {
            stop = () => controller.abort(new Error('the attempt has ended without waiting for the answer'));
            if (over) stop();
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            const retryAfter = responseHeaders['retry-after'];
            answer = { statusCode, retryAfter: typeof retryAfter === 'string' ? retryAfter : null, error: null };
          },
          onResponseData(controller, chunk) {
            received += chunk.length;
            if (received > LONGEST_ANSWER) {
              end(answer && readsAnswer ? { ...answer, error: TOO_LONG } : answer);
              controller.abort(new Error(TOO_LONG));
            } else if (readsAnswer || wantsMore(chunk)) chunks.push(chunk);
          },
          onResponseEnd: () => end(answer && readsAnswer ? { ...answer, body: Buffer.concat(chunks) } : answer),
          onResponseError: (_controller, cause) => failed(cause, !answer && keptConnectionEnded(cause)),
        });

        /** Sends the message once more when a kept connection has ended; otherwise the attempt has failed. */
        function failed(cause: Error, wasKept: boolean): void {
          if (wasKept && !again && !readsAnswer && !over) {
            again = true;
            begin();
          } else fail(describe(cause));
        }

        function sendDirectly(target: Target): void {
          stop = exchanges.send(
            target,
            { headers, body, again },
            {
              answered({ statusCode, retryAfter, body: whole }) {
                answer = { statusCode, retryAfter, error: null };
                if (wantsBeginning()) chunks.push(whole);
                end(answer);
              },
              failed,
              begun: (socket, arrived) => dispatch(clientOfBegun(new URL(url).origin, socket, arrived)),
            },
          );
        }

        function dispatch(through: Dispatcher): void {
          const { origin, pathname, search } = new URL(url);
          through.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, handler());
        }

        function begin(): void {
          try {
            const target = readsAnswer || !arePlain(headers) ? undefined : exchanges.targetOf(url);
            if (target) sendDirectly(target);
            else dispatch(agent);
          } catch (cause) {
            fail(describe(cause as Error));
          }
        }
        begin();
      }),

    /** Ends every request at once; their results are unknown. */
    abortAll(): void {
      for (const { abort } of running) abort();
    },

    async [Symbol.asyncDispose](): Promise<void> {
      stopTimeout?.();
      exchanges.close();
      await agent.destroy();
    },
  };
}
