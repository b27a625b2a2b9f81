/** One fault of an input, as the service names it: where, what, and of which kind. */
export interface Fault {
  loc: string[];
  msg: string;
  type: string;
}

/** An answer of the service that is not a 2xx, in its own words; or one that is not of this service at all. */
export class LapelError extends Error {
  /** `GET /v1/applications/patrol` */
  readonly request: string;
  readonly status: number;
  /** Which error it is, by the service's table of errors; null when the answer does not say. To be told apart by this. */
  readonly code: string | null;
  /** The `message` or `reason` of the answer. */
  readonly reason: string;
  /** Every faulty field; empty for errors that are not about fields. */
  readonly details: Fault[];
  /** What the service's log line has. */
  readonly requestId: string | null;
  /** Seconds after which to try again, when the service says so. */
  readonly retryAfter: number | null;

  constructor(
    request: string,
    answer: {
      status: number;
      body: unknown;
      code?: string | null;
      requestId: string | null;
      retryAfter?: number | null;
    },
  ) {
    const body = (typeof answer.body === 'object' && answer.body !== null ? answer.body : {}) as Record<
      string,
      unknown
    >;
    // Both error bodies of the service, and that of the token endpoint (RFC 6749 5.2).
    const words = [body['reason'], body['message'], body['error_description'], body['error']];
    const reason = String(words.find((text) => typeof text === 'string') ?? 'an answer that is not of this service');
    super(`${request}: ${answer.status} ${reason}`);
    this.name = 'LapelError';
    this.request = request;
    this.status = answer.status;
    this.code = answer.code ?? null;
    this.reason = reason;
    this.details = Array.isArray(body['details']) ? (body['details'] as Fault[]) : [];
    this.requestId = answer.requestId;
    this.retryAfter = answer.retryAfter ?? null;
  }
}
