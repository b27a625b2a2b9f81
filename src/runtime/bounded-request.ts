import { type IncomingHttpHeaders, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** The most bytes of the body; as many, and 64 KiB, may come in all. */
  mostBytes: number;
}

interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer<ArrayBuffer>;
}

/** The answer has more bytes than it may have. */
export class AnswerTooLong extends Error {
  constructor(mostBytes: number) {
    super(`the answer is longer than ${mostBytes / 1024} KiB`);
    this.name = 'AnswerTooLong';
  }
}

/** The most bytes of everything but the body: heads, interim answers, sizes of chunks. */
const LONGEST_REST = 64 * 1024;

/**
 * Makes one request on a connection of its own, which is closed afterwards, and follows no redirect. For requests that are
 * rare: nothing stays open. Interim answers are skipped (RFC 9110 15.2), and all bytes that arrive are bounded. Throws
 * AnswerTooLong, or the error of the connection.
 */
export async function boundedRequest(url: string, asked: Asked): Promise<Answered> {
  const { method = 'GET', headers = {}, body, signal, mostBytes } = asked;
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const send = url.startsWith('https:') ? overHttps : overHttp;
  const request = send(url, { method, headers: { ...headers, connection: 'close' }, agent: false, signal });
  request.on('error', reject);
  request.on('upgrade', () => request.destroy(new Error('the answer changes the protocol')));
  request.on('socket', (socket) =>
    socket.on('data', () => {
      if (socket.bytesRead > mostBytes + LONGEST_REST) request.destroy(new AnswerTooLong(mostBytes));
    }),
  );
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on('error', reject);
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > mostBytes) request.destroy(new AnswerTooLong(mostBytes));
    });
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
    );
  });
  request.end(body);
  try {
    return await promise;
  } catch (cause) {
    // The reason that `destroy` was called with is lost once an answer has begun.
    throw request.errored ?? cause;
  } finally {
    request.destroy();
  }
}
