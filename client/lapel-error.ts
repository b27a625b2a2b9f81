/** One fault of an input as reported by the service: its place, a message, and its type. */
export interface Fault {
  loc: string[];
  msg: string;
  type: string;
}

/** An error answer of the service, or an answer that is not from this service at all. */
export class LapelError extends Error {
  /** Method and path, such as `GET /v1/applications/patrol`. */
  readonly request: string;
  readonly status: number;
  /**
   * The code from the service's table of errors, by which programs should distinguish errors; null when the answer has
   * none.
   */
  readonly code: string | null;
  /** The `message` or `reason` of the answer. */
  readonly reason: string;
  /** Every faulty field; empty for errors that do not concern fields. */
  readonly details: Fault[];
  /** The id under which the service logged the request. */
  readonly requestId: string | null;
  /** Seconds after which to retry, when the service says so. */
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
    // The members that hold the text of an error: in the two error bodies of the service, and in that of its token
    // endpoint (RFC 6749 5.2).
    const words = [body['reason'], body['message'], body['error_description'], body['error']];
    const reason = String(
      words.find((text) => typeof text === 'string') ?? 'the answer does not come from this service',
    );
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
