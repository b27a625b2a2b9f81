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

/** For people: what failed, each faulty field, and what to do. */
export function failureText({ message, refusal, advice }: Failure): string {
  const faults = (refusal?.details ?? []).map(({ loc, msg, type }) => `  ${loc.join('.')}: ${msg} (${type})`);
  const request = refusal?.requestId ? [`  the service's log line has the request id ${refusal.requestId}`] : [];
  return [message, ...faults, ...advice.map((line) => `  ${line}`), ...request].join('\n');
}

/** For scripts. */
export function failureBody({ message, refusal, done }: Failure): object {
  return { ok: false, ...done, error: { message, ...refusal } };
}
