import { LapelError } from '../../client/lapel-error.ts';
import { ADVICE } from './advice.ts';
import { oneLine } from './plain-text.ts';

/** What an API said about a request that it refused. */
export interface Refusal {
  status: number;
  /** The `message` or `reason` of the answer. */
  reason: string;
  details: { loc: string[]; msg: string; type: string }[];
  requestId: string | null;
}

interface Circumstances {
  refusal?: Refusal;
  /** What the caller can do about it, a line each. */
  advice?: readonly string[];
  /** May pass by itself: nobody answers, or the service is at its limit. */
  passing?: boolean;
  cause?: unknown;
}

/** Something went wrong while a command ran: in words that name it. Exit code 1. */
export class Failure extends Error {
  readonly refusal: Refusal | undefined;
  readonly advice: readonly string[];
  readonly passing: boolean;
  /** What had been done by then, for `--json`. */
  done: object = {};

  constructor(message: string, { refusal, advice = [], passing = false, cause }: Circumstances = {}) {
    super(message, { cause });
    this.refusal = refusal;
    this.advice = advice;
    this.passing = passing;
  }
}

const TOKEN_REQUEST = 'POST /api/v1/authenticate';

/** Why nobody answered: the error of the network below the one that fetch throws. */
export function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
  const first = cause instanceof AggregateError ? (cause.errors[0] as Error | undefined) : cause;
  return first?.message || cause.message || String(error);
}

/**
 * What a client threw, as a Failure: `what` failed at `baseUrl`, which `option` says. Errors that are not of the client
 * stay what they are.
 */
export function toFailure(error: unknown, at: { what: string; baseUrl: string; option: string }): unknown {
  const { what, baseUrl, option } = at;
  if (error instanceof LapelError) {
    const { status, reason, details, requestId, request } = error;
    const isToken = request === TOKEN_REQUEST;
    const advice = isToken && status === 401 ? ADVICE['unknown application or wrong secret'] : ADVICE[reason];
    const failed = isToken ? `get an access token (to ${what})` : what;
    return new Failure(`cannot ${failed}: ${status} ${reason} (${request})`, {
      refusal: { status, reason, details, requestId },
      advice: advice === undefined ? [] : [advice],
      passing: status === 429 || status >= 500,
      cause: error,
    });
  }
  const { name, message } = error as Error;
  const isNetwork = name === 'TimeoutError' || (error instanceof TypeError && /fetch failed|terminated/.test(message));
  if (!isNetwork) return error;
  return new Failure(`cannot ${what}: nobody answers at ${baseUrl}: ${networkReason(error)}`, {
    cause: error,
    passing: true,
    advice: [`is the service running there? --${option} says where it is`],
  });
}

/** For people: what failed, each faulty field, and what to do. */
export function failureText({ message, refusal, advice }: Failure): string {
  const faults = (refusal?.details ?? []).map(({ loc, msg, type }) => `  ${loc.join('.')}: ${msg} (${type})`);
  const request = refusal?.requestId ? [`  the service's log line has the request id ${refusal.requestId}`] : [];
  return [oneLine(message), ...faults.map(oneLine), ...advice.map((line) => `  ${line}`), ...request].join('\n');
}

/** For scripts. */
export function failureBody({ message, refusal, done }: Failure): object {
  return { ok: false, ...done, error: { message, ...refusal } };
}
