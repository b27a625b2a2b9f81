import { LapelError } from '@lapel/client/lapel-error';
import { TOKEN_REQUEST } from '@lapel/client/operations';
import { ADVICE } from './advice.ts';
import { oneLine } from './plain-text.ts';

/** The error answer of an API. */
export interface Refusal {
  status: number;
  /** The code from the table of errors, by which scripts distinguish errors; null when the answer has none. */
  code: string | null;
  /** The `message` or `reason` of the error answer. */
  reason: string;
  details: { loc: string[]; msg: string; type: string }[];
  requestId: string | null;
}

interface Circumstances {
  refusal?: Refusal;
  /** Lines of advice for the caller. */
  advice?: readonly string[];
  /**
   * True when a later attempt may succeed: the service does not answer, or one of its limits is reached at the moment.
   */
  passing?: boolean;
  cause?: unknown;
}

/** Thrown when a command has failed; the message names the action. Exit code 1. */
export class Failure extends Error {
  readonly refusal: Refusal | undefined;
  readonly advice: readonly string[];
  readonly passing: boolean;
  /** The steps that were done before the failure, for `--json`. */
  done: object = {};

  constructor(message: string, { refusal, advice = [], passing = false, cause }: Circumstances = {}) {
    super(message, { cause });
    this.refusal = refusal;
    this.advice = advice;
    this.passing = passing;
  }
}

/** The reason why nobody answered: the network error behind the error of fetch. */
export function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
  const first = cause instanceof AggregateError ? (cause.errors[0] as Error | undefined) : cause;
  return first?.message || cause.message || String(error);
}

/**
 * Turns an error of a request into a Failure. Its message names the action (`what`) and the address of the service
 * (`baseUrl`); if nobody answers there, its advice names the option that changes the address (`option`). Other errors
 * are returned unchanged.
 */
export function toFailure(error: unknown, at: { what: string; baseUrl: string; option: string }): unknown {
  const { what, baseUrl, option } = at;
  if (error instanceof LapelError) {
    const { status, code, reason, details, requestId, request } = error;
    const isToken = request === `${TOKEN_REQUEST.method} ${TOKEN_REQUEST.path}`;
    const advice = isToken && status === 401 ? ADVICE['unknown application or wrong secret'] : ADVICE[reason];
    const failed = isToken ? `get an access token (to ${what})` : what;
    return new Failure(`cannot ${failed}: ${status} ${reason} (${request})`, {
      refusal: { status, code, reason, details, requestId },
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
    advice: [`is the service running there? set its address with --${option}`],
  });
}

/** The failure for people: the message, each faulty field, and the advice. */
export function failureText({ message, refusal, advice }: Failure): string {
  const faults = (refusal?.details ?? []).map(({ loc, msg, type }) => `  ${loc.join('.')}: ${msg} (${type})`);
  // A refusal says all itself; an error of the service is explained in its log.
  const request =
    refusal?.requestId && refusal.status >= 500
      ? [`  the log of the service has details under the request id ${refusal.requestId}`]
      : [];
  return [message, ...faults, ...advice.map((line) => `  ${line}`), ...request].map(oneLine).join('\n');
}

/** The failure for scripts. */
export function failureBody({ message, refusal, done }: Failure): object {
  return { ok: false, ...done, error: { message, ...refusal } };
}
