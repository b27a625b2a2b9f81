import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { ANSWER_MILLISECONDS } from './kinds.ts';

/** The answer of the customer's receiver. */
export interface CustomerAnswer {
  /** The status; null if no complete answer came in time. */
  readonly status: number | null;
  /** Why no answer came. */
  readonly reason: string;
  /** When the webhook was sent, and when the answer had arrived or was given up, in milliseconds of a clock that never goes back. */
  readonly from: number;
  readonly to: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Sender extends Disposable {
  /** Sends a webhook to the customer's receiver. `path` is appended to its URL. Never rejects. */
  send(webhook: { headers: OutgoingHttpHeaders; body: Buffer }, path?: string): Promise<CustomerAnswer>;
}

interface Attempt {
  readonly request: ClientRequest;
  readonly response: Promise<IncomingMessage>;
}

/** Sends webhooks to the customer's receiver at `url`, over connections that stay open between webhooks. */
export function createSender(url: string): Sender {
  const base = new URL(url);
  const isTls = base.protocol === 'https:';
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });

  function targetOf(path: string): URL {
    const target = new URL(base);
    const [more = '', query] = path.split('?');
    if (more !== '/' && more !== '') target.pathname = base.pathname.replace(/\/$/, '') + more;
    if (query !== undefined) target.search = query;
    return target;
  }

  function attempt(headers: OutgoingHttpHeaders, body: Buffer, path: string): Attempt {
    const options = { agent, method: 'POST', headers: { ...headers, 'content-length': body.length } };
    const request = (isTls ? httpsRequest : httpRequest)(targetOf(path), options);
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
    });
    request.end(body);
    return { request, response };
  }

  /** The whole answer. A kept connection that the receiver closed just now is replaced by a new one, as the service does. */
  async function exchange(headers: OutgoingHttpHeaders, body: Buffer, path: string, late: AbortSignal) {
    for (;;) {
      const { request, response } = attempt(headers, body, path);
      const giveUp = (): void => void request.destroy(new Error(`no answer within ${ANSWER_MILLISECONDS / 1000} s`));
      late.addEventListener('abort', giveUp);
      try {
        const got = await response;
        return { status: got.statusCode ?? null, headers: got.headers, body: await buffer(got) };
      } catch (error) {
        const isClosed = ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
        if (!(request.reusedSocket && isClosed) || late.aborted) throw error;
      } finally {
        late.removeEventListener('abort', giveUp);
      }
    }
  }

  return {
    async send({ headers, body }, path = '/') {
      const from = performance.now();
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), ANSWER_MILLISECONDS);
      try {
        const answer = await exchange(headers, body, path, late.signal);
        return { ...answer, reason: '', from, to: performance.now() };
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException;
        const reason = late.signal.aborted
          ? `no answer within ${ANSWER_MILLISECONDS / 1000} s`
          : message || (code ?? 'the connection failed');
        return { status: null, reason, from, to: performance.now(), headers: {}, body: Buffer.alloc(0) };
      } finally {
        clearTimeout(timer);
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
