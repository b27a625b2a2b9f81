import { randomUUID } from 'node:crypto';
import { LapelError } from '@lapel/client/lapel-error';
import { pause, type Timers } from '../timers.ts';
import type { Asked } from './entry.ts';
import type { Ledger } from './ledger.ts';

/**
 * A request is given up after a hundred 429 answers, or after thirteen times no answer or a 5xx. With these pauses that is
 * half a minute: a customer outlasts a restart of the service.
 */
const MOST_POSTPONEMENTS = 100;
const MOST_FAILURES = 13;
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 3000;

/** The device, the action and the phase that a request belongs to. */
export interface About {
  readonly deviceId: string;
  readonly operation: string;
  readonly phase: string;
  readonly number?: number | undefined;
  /** The time at which the request should have been made; its latency counts from there. */
  readonly due?: number | undefined;
}

/** A transaction that a call made, and the command that it should become. */
export interface Made {
  readonly transactionId: number;
  readonly asked?: Asked;
}

/** The requests of a customer, which repeats failed ones and keeps books. */
export interface Requests {
  /**
   * Makes a request that may create a transaction; resolves to its transactionId, or to undefined if the request was
   * refused or makes none. Repetitions use the same Idempotency-Key, so they are the same request.
   */
  make(about: About, call: (idempotencyKey: string) => Promise<Made | undefined>): Promise<number | undefined>;
  /** Resolves when the first of the device's requests in progress is answered; undefined if none is in progress. */
  next(deviceId: string): Promise<void> | undefined;
  /**
   * Makes a call whose answer is needed: repeats it after a 429, a 5xx or no answer, up to the bounds above. Rejects
   * with the last error.
   */
  insist<Result>(call: () => Promise<Result>): Promise<Result>;
}

const statusOf = (error: unknown): number => (error instanceof LapelError ? error.status : 0);
/** Whether a repetition may succeed: after a 5xx, or after the error that fetch throws when no server answers. */
const mayPass = (error: unknown): boolean =>
  error instanceof LapelError ? error.status >= 500 : error instanceof TypeError || error instanceof DOMException;

/** The reason of a failed request, in words: the text of the service, or that there is no service. */
export function reasonOf(error: unknown): string {
  if (error instanceof LapelError) {
    const faults = error.details.length === 0 ? '' : ` ${JSON.stringify(error.details)}`;
    return error.reason + faults;
  }
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message || String(cause) : message;
}

export function createRequests({
  ledger,
  timers,
  stopped,
  onNoAnswer = () => {},
}: {
  ledger: Ledger;
  timers: Timers;
  /** Aborted at the end of the run: ends all pauses, and gives up every request that waits to be repeated. */
  stopped: AbortSignal;
  /** A request got no answer: the service may be away. */
  onNoAnswer?: () => void;
}): Requests {
  const rest = (milliseconds: number): Promise<void> => pause(timers, milliseconds, stopped);

  /**
   * Decides whether to repeat a failed request, and waits for the pause before the repetition: after a 429
   * (`postponed`), or after a failure that may pass (`failed`). Null: the request is given up.
   */
  async function again(
    error: unknown,
    counts: { postponed: number; failed: number },
  ): Promise<'postponed' | 'failed' | null> {
    if (stopped.aborted) return null;
    const status = statusOf(error);
    if (status === 0) onNoAnswer();
    if (status === 429 && counts.postponed < MOST_POSTPONEMENTS) {
      counts.postponed += 1;
      await rest(1000 * ((error as LapelError).retryAfter ?? 1));
      return 'postponed';
    }
    const running = error instanceof LapelError && error.code === 'IDEMPOTENCY_KEY_RUNNING';
    if ((!mayPass(error) && !running) || counts.failed >= MOST_FAILURES) return null;
    counts.failed += 1;
    await rest(Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (counts.failed - 1)));
    return 'failed';
  }

  const underWay = new Map<string, Set<PromiseWithResolvers<void>>>();

  /** Notes a request in progress for a device, until the returned function is called. */
  function begin(deviceId: string): () => void {
    const answer = Promise.withResolvers<void>();
    const all = underWay.get(deviceId) ?? new Set();
    underWay.set(deviceId, all.add(answer));
    return () => {
      all.delete(answer);
      if (all.size === 0) underWay.delete(deviceId);
      answer.resolve();
    };
  }

  return {
    next(deviceId) {
      const all = underWay.get(deviceId);
      return all && Promise.race([...all].map(({ promise }) => promise));
    },

    async make(about, call) {
      const end = begin(about.deviceId);
      try {
        return await insistently(about, call);
      } finally {
        end();
      }
    },

    async insist(call) {
      const counts = { postponed: 0, failed: 0 };
      for (;;) {
        try {
          return await call();
        } catch (error) {
          if (!(await again(error, counts))) throw error;
        }
      }
    },
  };

  async function insistently(
    { deviceId, operation, phase, number, due }: About,
    call: (idempotencyKey: string) => Promise<Made | undefined>,
  ): Promise<number | undefined> {
    const key = randomUUID();
    const counts = { postponed: 0, failed: 0 };
    for (let requestedAt = due ?? timers.now(); ; ) {
      try {
        const answer = await call(key);
        if (!answer) {
          ledger.carriedOut(phase, { deviceId, operation });
          return undefined;
        }
        const { transactionId, asked } = answer;
        ledger.accepted({ transactionId, deviceId, operation, phase, number, requestedAt, asked, at: timers.now() });
        return transactionId;
      } catch (error) {
        const refusal = { deviceId, operation, phase, status: statusOf(error), reason: reasonOf(error) };
        const at = timers.now();
        const next = await again(error, counts);
        if (!next) {
          ledger.refused({ ...refusal, at });
          return undefined;
        }
        if (next === 'failed') ledger.failed({ ...refusal, at });
        else {
          ledger.postponed(phase, { deviceId, operation });
          // A request that was answered 429 had no effect, so its latency counts from the repetition.
          requestedAt = timers.now();
        }
      }
    }
  }
}
