import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { createConnector, keptConnectionEnded } from './guarded-connect.ts';
import type { Answer } from './retry-schedule.ts';

// Of the answer to a webhook nothing is used but its status; what is read of it keeps the connection open for the next.
const LONGEST_ANSWER = 64 * 1024;
const TOO_LONG = `the answer is longer than ${LONGEST_ANSWER / 1024} KiB`;
const LONGEST_ERROR = 200;
/** Bytes of an answer that is no 2xx, for those who look for the reason. */
const BEGINNING = 4 * 1024;

const isGood = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;

interface Options {
  clock: Clock;
  /** LAPEL_WEBHOOK_ALLOW_PRIVATE */
  allowPrivate: boolean;
  /** From the call to the end of the answer, look-up and connection included. */
  timeoutMs: number;
  /** How names become addresses; the system's way by default. */
  lookup?: LookupFunction;
}

interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** The answer's body is wanted too: one that is cut short, or longer than 64 KiB, is an error then. */
  readsAnswer?: boolean;
  /** Told of a function that ends it: then there was no answer, for the reason given. */
  cuttable?(cut: (why: string) => void): void;
}

/** Why there is no answer, in words for the application: never the address that a name led to. */
function describe(cause: Error & { address?: unknown; errors?: Error[] }): string {
  // A name with several addresses: one error for each, and the one that holds them says nothing.
  const [first] = cause instanceof AggregateError ? (cause.errors as (Error & { address?: unknown })[]) : [];
  if (first) return describe(first);
  if (cause.address !== undefined) return systemError(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  const text = cause.message === '' ? cause.name : cause.message;
  return (code === '' || text.includes(code) ? text : `${text} (${code})`).slice(0, LONGEST_ERROR);
}

const systemError = (cause: NodeJS.ErrnoException): string => `${cause.syscall ?? 'connect'} ${cause.code ?? 'failed'}`;

/**
 * Sends one message at a time per connection, keeps connections for the next, follows no redirect, never throws for what a
 * receiver does. A receiver may close a connection that it kept in the moment in which the next message goes out on it: that
 * one is sent once more at once, in the same attempt; not where the answer is wanted, which is asked for as often as told.
 */
export function createSender({ clock, allowPrivate, timeoutMs, lookup }: Options) {
  const agent = new Agent({
    connect: createConnector({ allowPrivate, timeoutMs, ...(lookup && { lookup }) }),
    headersTimeout: 0, // the clock below is the only one
    bodyTimeout: 0,
  });
  const running = new Set<() => void>();

  return {
    /** Resolves with the answer, or with the reason why there is none; undefined when `abort` ended it, so nothing is known of it. */
    post: ({ url, headers, body, readsAnswer = false, cuttable }: Message): Promise<Answer | undefined> =>
      new Promise((resolve) => {
        let answer: Answer | undefined;
        let received = 0;
        const chunks: Buffer[] = [];
        let stop: (() => void) | undefined;
        let over = false;
        let again = !readsAnswer;

        // A request that has not got its connection yet cannot be taken back; it is dropped when it gets one.
        const end = (result: Answer | undefined): void => {
          if (over) return;
          over = true;
          cancelTimeout();
          running.delete(abort);
          const hasBeginning = answer && !readsAnswer && !isGood(answer.statusCode ?? 0);
          resolve(
            result && hasBeginning ? { ...result, beginning: Buffer.concat(chunks).subarray(0, BEGINNING) } : result,
          );
        };
        /** Of an answer that is no 2xx its beginning is kept. */
        const wantsMore = (chunk: Buffer): boolean =>
          !isGood(answer?.statusCode ?? 0) && received - chunk.length < BEGINNING;
        const abort = (): void => {
          end(undefined);
          stop?.();
        };
        /** The answer did not end. */
        const fail = (error: string): void =>
          end(answer && !readsAnswer ? answer : { statusCode: null, retryAfter: null, error });
        const cut = (why: string): void => {
          fail(why);
          stop?.();
        };
        const cancelTimeout = clock.after(timeoutMs, () => cut(`no answer within ${timeoutMs / 1000} s`));
        cuttable?.(cut);
        running.add(abort);

        const handler: Dispatcher.DispatchHandler = {
          onRequestStart(controller) {
            stop = () => controller.abort(new Error('the answer is no longer waited for'));
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
          onResponseError(_controller, cause) {
            if (!again || over || answer || !keptConnectionEnded(cause)) return fail(describe(cause));
            again = false;
            dispatch();
          },
        };
        function dispatch(): void {
          try {
            const { origin, pathname, search } = new URL(url);
            agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, handler);
          } catch (cause) {
            fail(describe(cause as Error));
          }
        }
        dispatch();
      }),

    /** Ends every request at once; their outcome is unknown. */
    abortAll(): void {
      for (const abort of running) abort();
    },

    async [Symbol.asyncDispose](): Promise<void> {
      await agent.destroy();
    },
  };
}
