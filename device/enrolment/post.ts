import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

const MOST_BYTES = 65_536;
const MOST_MILLISECONDS = 60_000;

/** A certificate and its key, as PEM. */
export interface Certificate {
  certificate: string;
  key: string;
}

export interface Reply {
  status: number;
  /** Seconds; undefined if the service names none. */
  retryAfter?: number;
  body: Record<string, unknown>;
}

export interface PostOptions {
  /** PEM of the CAs that may have signed the certificate of the service; those of the system if left out. */
  ca?: string | undefined;
  /** Shown to the service. */
  shown?: Certificate | undefined;
  signal: AbortSignal;
}

/** Sends JSON, and reads the answer. Rejects when there is none. */
export function post(url: string, body: object, { ca, shown, signal }: PostOptions): Promise<Reply> {
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      agent: false as const,
      timeout: MOST_MILLISECONDS,
      signal,
      ...(ca !== undefined && { ca }),
      ...(shown && { cert: shown.certificate, key: shown.key }),
    };
    const sent = send(url, options, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
        if (text.length > MOST_BYTES) sent.destroy(new Error('the answer is too long.'));
      });
      answer.on('error', reject);
      answer.on('end', () => resolve(replyOf(answer.statusCode ?? 0, answer.headers['retry-after'], text)));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer came in time.')));
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

function replyOf(status: number, after: string | undefined, text: string): Reply {
  const seconds = Number(after);
  const retryAfter = after !== undefined && seconds >= 0 ? { retryAfter: seconds } : {};
  try {
    const body: unknown = JSON.parse(text);
    return { status, ...retryAfter, body: typeof body === 'object' && body !== null ? { ...body } : {} };
  } catch {
    return { status, ...retryAfter, body: {} };
  }
}
