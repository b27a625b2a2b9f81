import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** The code of Node's error for a request that did not arrive in its time. */
export const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';

const STATUSES = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  [TIMED_OUT, 408],
]);

/** The status for input that the HTTP parser refuses; undefined for an error of the connection, or of TLS. */
const statusOf = (code: string | undefined): number | undefined =>
  STATUSES.get(code ?? '') ?? (code?.startsWith('HPE_') ? 400 : undefined);

/** Answers as Node does where nobody listens for `clientError`, and closes the connection. */
export function endClient(socket: Duplex, code: string | undefined, isAnswering: boolean): void {
  const status = statusOf(code);
  if (status !== undefined && socket.writable && !isAnswering) {
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
  }
  socket.destroy();
}
