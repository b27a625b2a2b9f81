import { Failure, type Refusal } from './failure.ts';

export interface Answer {
  status: number;
  // What the schemas say, but nobody here checks it: the service does.
  // biome-ignore lint/suspicious/noExplicitAny: bodies of another process
  body: any;
}

export interface Request {
  /** `start the distribution`: what fails when it fails. */
  what: string;
  body?: unknown;
  form?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | undefined>>;
  /** A status besides 2xx that is as good. */
  alsoGood?: number;
}

export type HttpClient = (method: string, path: string, request: Request) => Promise<Answer>;

const PATIENCE_MILLISECONDS = 60_000;

/** What to do about a refusal, by what the service says. Some of it is not to be guessed from the words alone. */
const ADVICE: Readonly<Record<string, string>> = {
  'device is not activated.': 'activate it first: POST /v1/applications/APPLICATION/devices/DEVICE',
  'device information unavailable.': 'no such device of this developer: look at its number, or register it',
  'device is activated in another application.': 'deactivate it there first',
  'authenticationKey is not issued.':
    'issue the key that signs webhooks first: POST /v1/applications/APPLICATION/refresh_authkey',
  'system notification destination is not configured.':
    'set where results are sent first: PATCH /v1/applications/APPLICATION with {"deviceEvent": "https://..."}',
  'package is used by a different developer.': 'names of packages are unique over all developers: take another one',
  'distribution is not started.': 'start it: leave out --no-distribute',
  'administrator token is missing or wrong.':
    'give the right --token (or LAPEL_ADMIN_TOKEN), or --data-dir, the data folder of the running service',
  'wrong url.': 'the service does not know this operation: is this the right address, and a service of this release?',
};

/** Why nobody answered: the error of the network below the one that fetch throws. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
  const first = cause instanceof AggregateError ? (cause.errors[0] as Error | undefined) : cause;
  return first?.message || cause.message || String(error);
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** Reads both error shapes of the service (and RFC 6749's of the token endpoint); another server's answer has neither. */
function refusalOf(status: number, parsed: unknown, requestId: string | null): Refusal {
  const body = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Record<string, unknown>;
  const words = [body['reason'], body['message'], body['error_description'], body['error']];
  const reason = words.find((text) => typeof text === 'string') ?? 'an answer that is not of this service';
  const details = Array.isArray(body['details']) ? (body['details'] as Refusal['details']) : [];
  return { status, reason: String(reason), details, requestId };
}

/**
 * JSON over HTTP. `authorization` makes the header; when the service takes it no more, `renew` says so, once, and it is
 * asked again. Throws a Failure for every answer but a good one, and when nobody answers.
 */
export function createHttpClient({
  baseUrl,
  option,
  authorization,
  renew,
}: {
  baseUrl: string;
  /** Which option says the address. */
  option: string;
  authorization: () => string | Promise<string>;
  renew?: () => void;
}): HttpClient {
  async function send(method: string, path: string, request: Request): Promise<Response> {
    const headers = new Headers({ accept: 'application/json', authorization: await authorization() });
    const url = new URL(baseUrl + path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    let body: string | URLSearchParams | null = null;
    if (request.form) body = new URLSearchParams(request.form);
    else if (request.body !== undefined) {
      headers.set('content-type', 'application/json');
      body = JSON.stringify(request.body);
    }
    return fetch(url, { method, headers, body, redirect: 'error', signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
  }

  return async (method, path, request) => {
    let response: Response;
    let text: string;
    try {
      response = await send(method, path, request);
      if (response.status === 401 && renew) {
        await response.text();
        renew();
        response = await send(method, path, request);
      }
      text = await response.text();
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure(`cannot ${request.what}: nobody answers at ${baseUrl}: ${networkReason(cause)}`, {
        cause,
        passing: true,
        advice: [`is the service running there? --${option} says where it is`],
      });
    }
    const { status } = response;
    const body = parse(text);
    if ((response.ok || status === request.alsoGood) && body !== undefined) return { status, body };
    const refusal = refusalOf(status, body, response.headers.get('x-request-id'));
    const advice = ADVICE[refusal.reason];
    throw new Failure(`cannot ${request.what}: ${status} ${refusal.reason} (${method} ${path})`, {
      refusal,
      advice: advice === undefined ? [] : [advice],
      passing: status === 429 || status >= 500,
    });
  };
}
