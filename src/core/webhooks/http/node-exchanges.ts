import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { buildConnector } from 'undici';
import { BadAnswer } from './answer-head.ts';
import { type Answered, LONGEST_BODY, LONGEST_HEAD, LONGEST_IN_ALL } from './answer-reader.ts';
import { parse } from './direct-exchanges.ts';
import { ClosedByReceiver, type Exchange, type Exchanges } from './exchange.ts';

const LOWEST_STATUS = 100;

/** The answer of Node's client, as the reader of the direct way would tell it. */
function answerOf(response: IncomingMessage, chunks: readonly Buffer[]): Answered {
  const retryAfter = response.headersDistinct['retry-after'] ?? [];
  const body = Buffer.concat(chunks);
  return {
    statusCode: response.statusCode ?? 0,
    retryAfter: retryAfter.length === 1 ? (retryAfter[0] ?? null) : null,
    keepAliveSeconds: null,
    closes: true,
    body: body.subarray(0, LONGEST_BODY),
    isTooLong: body.length > LONGEST_BODY,
  };
}

function errorOf(cause: NodeJS.ErrnoException): Error {
  if (cause.code?.startsWith('HPE_HEADER_OVERFLOW'))
    return new BadAnswer(`has a head of more than ${LONGEST_HEAD / 1024} KiB`);
  if (cause.code?.startsWith('HPE_')) return new BadAnswer(`breaks HTTP/1.1 (${cause.code})`);
  const isClosed = cause.code === 'ECONNRESET' && cause.syscall === undefined;
  return isClosed ? new ClosedByReceiver() : cause;
}

/**
 * Sends messages with Node's own HTTP client, each on a connection of its own. This is the way when
 * LAPEL_WEBHOOK_DIRECT is false: slower, and made of other code.
 */
export function createNodeExchanges({ connect }: { connect: buildConnector.connector }): Exchanges {
  const open = new Set<() => void>();

  return {
    send(url, { headers, body }, exchange: Exchange) {
      const { target, path, host } = parse(url);
      const chunks: Buffer[] = [];
      let response: IncomingMessage | undefined;
      let length = 0;
      let over = false;
      const part = (): Answered | undefined => response && answerOf(response, chunks);
      const request = httpRequest({
        method: 'POST',
        path,
        headers: { host, connection: 'close', ...headers, 'content-length': Buffer.byteLength(body) },
        maxHeaderSize: LONGEST_HEAD,
        createConnection(_options, made) {
          connect(target, (cause, socket) => made(cause, socket as never));
          return undefined;
        },
      });
      const finish = (): boolean => {
        if (over) return false;
        over = true;
        open.delete(stop);
        request.destroy();
        return true;
      };
      const stop = (): void => void finish();
      const fail = (cause: Error): void => {
        if (finish()) exchange.failed(errorOf(cause), { part: part() });
      };
      /** Node bounds heads only, one by one; this bounds everything. */
      const checkAll = (): void => {
        if ((request.socket?.bytesRead ?? 0) > LONGEST_IN_ALL)
          fail(new BadAnswer(`has more than ${LONGEST_IN_ALL / 1024} KiB in all`));
      };
      open.add(stop);
      request.on('error', fail);
      request.on('socket', (socket) => socket.on('data', checkAll));
      request.on('upgrade', () => fail(new BadAnswer('changes the protocol (101), which nobody has asked for')));
      request.on('response', (begun) => {
        if ((begun.statusCode ?? 0) < LOWEST_STATUS)
          return fail(new BadAnswer('does not begin with a status line of HTTP/1.1'));
        response = begun;
        begun.on('error', fail);
        begun.on('data', (chunk: Buffer) => {
          length += chunk.length;
          chunks.push(chunk);
          if (length > LONGEST_BODY && finish()) exchange.answered(answerOf(begun, chunks));
        });
        begun.on('end', () => {
          if (finish()) exchange.answered(answerOf(begun, chunks));
        });
      });
      request.end(body);
      return () => (finish() ? part() : undefined);
    },

    close(): void {
      for (const stop of open) stop();
    },
  };
}
