import type { Socket } from 'node:net';
import type { AnswerWith } from './plain-receiver.ts';

export const OK = 'HTTP/1.1 200 OK\r\n';
export const NO_BODY = 'Content-Length: 0\r\n\r\n';
const LONG = 'y'.repeat(100_000);

/** Writes a byte at a time, so that each arrives by itself. */
async function byBytes(socket: Socket, text: string): Promise<void> {
  socket.setNoDelay(true);
  for (const byte of Buffer.from(text, 'latin1')) {
    if (socket.destroyed) return;
    await new Promise<void>((sent) => socket.write(Buffer.from([byte]), () => setImmediate(sent)));
  }
}

async function writeEndlessly(socket: Socket, text: string): Promise<void> {
  while (!socket.destroyed) await new Promise<void>((sent) => socket.write(text, () => setImmediate(sent)));
}

export const say =
  (text: string): AnswerWith =>
  (socket) =>
    void socket.write(text, 'latin1');
export const sayAndClose =
  (text: string): AnswerWith =>
  (socket) =>
    void socket.end(text, 'latin1');

/** Each answer, and whether its connection is used again. */
export const ANSWERS: Record<string, { answer: AnswerWith; kept: boolean }> = {
  'no body': { answer: say(`${OK}Date: Fri, 27 Nov 2026 16:26:40 GMT\r\n${NO_BODY}`), kept: true },
  'a body': { answer: say('HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\nX-Empty:\r\n\r\nhello'), kept: true },
  'a body in chunks': {
    answer: say(`${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n`),
    kept: true,
  },
  'a failure in chunks': {
    answer: say('HTTP/1.1 500 \r\ntransfer-encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n'),
    kept: true,
  },
  '204': { answer: say('HTTP/1.1 204 No Content\r\n\r\n'), kept: true },
  'Retry-After': {
    answer: say('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\ncontent-length: 2\r\n\r\nno'),
    kept: true,
  },
  'a redirect': { answer: say(`HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n${NO_BODY}`), kept: true },
  'Connection: close': { answer: sayAndClose(`${OK}Connection: close\r\n${NO_BODY}`), kept: false },
  'a short Keep-Alive': { answer: say(`${OK}Keep-Alive: timeout=1\r\n${NO_BODY}`), kept: false },
  'a reset': { answer: (socket) => void socket.resetAndDestroy(), kept: false },
  'an end': { answer: (socket) => void socket.end(), kept: false },
  '304': { answer: say('HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n'), kept: true },
  'byte by byte': {
    answer: (socket) => void byBytes(socket, 'HTTP/1.1 404 No\r\ncontent-length: 5\r\n\r\nhello'),
    kept: true,
  },
  'chunks byte by byte': {
    answer: (socket) =>
      void byBytes(socket, 'HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'),
    kept: true,
  },
  'chunks with an extension': {
    answer: say('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n'),
    kept: true,
  },
  'chunks with a trailer': {
    answer: say('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx: y\r\n\r\n'),
    kept: true,
  },
  'chunks and another answer': {
    answer: say(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 500 No\r\n${NO_BODY}`),
    kept: false,
  },
  'chunks and a length': {
    answer: say(`${OK}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    kept: false,
  },
  'a body until the end': { answer: sayAndClose('HTTP/1.1 503 No\r\n\r\nbye'), kept: false },
  'HTTP/1.0': { answer: sayAndClose('HTTP/1.0 200 OK\r\n\r\nhi'), kept: false },
  'two answers': { answer: say(`${OK}${NO_BODY}HTTP/1.1 500 No\r\n${NO_BODY}`), kept: false },
  'two lengths': { answer: say(`${OK}content-length: 0\r\ncontent-length: 1\r\n\r\nx`), kept: false },
  'a length that is no number': { answer: say(`${OK}content-length: +0\r\n\r\n`), kept: false },
  'two Retry-After': {
    answer: say(`HTTP/1.1 503 No\r\nretry-after: 1\r\nretry-after: 2\r\n${NO_BODY}`),
    kept: true,
  },
  'a folded header': { answer: say(`${OK}x: a\r\n b\r\n${NO_BODY}`), kept: false },
  'a header with white space': { answer: say(`${OK}retry-after:\t9 \r\n${NO_BODY}`), kept: true },
  'a header outside of ASCII': { answer: say(`${OK}x: \xe9\r\n${NO_BODY}`), kept: true },
  'a header without a colon': { answer: say(`${OK}x\r\n${NO_BODY}`), kept: false },
  '100': { answer: say(`HTTP/1.1 100 Continue\r\n\r\n${OK}${NO_BODY}`), kept: true },
  '101': { answer: say('HTTP/1.1 101 Go\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'), kept: false },
  'no HTTP': { answer: say('hello\r\n\r\n'), kept: false },
  'headers without an end': {
    answer: (socket) => {
      socket.write(OK);
      void writeEndlessly(socket, `x-${'a'.repeat(1000)}: 1\r\n`);
    },
    kept: false,
  },
  'a body without an end': {
    answer: (socket) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n');
      void writeEndlessly(socket, `3e8\r\n${'a'.repeat(1000)}\r\n`);
    },
    kept: false,
  },
  'a long body': {
    answer: say(`HTTP/1.1 500 No\r\ncontent-length: ${LONG.length}\r\n\r\n${LONG}`),
    kept: false,
  },
  'a part of a body, then the end': { answer: sayAndClose(`${OK}content-length: 9\r\n\r\nabc`), kept: false },
  'interim answers': {
    answer: say(
      `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\ncontent-length: 2\r\n\r\nno`,
    ),
    kept: true,
  },
  'interim answers without an end': {
    answer: (socket) => void writeEndlessly(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)),
    kept: false,
  },
  'a status line without an end': {
    answer: (socket) => {
      socket.write('HTTP/1.1 200 ');
      void writeEndlessly(socket, 'a'.repeat(1000));
    },
    kept: false,
  },
  'an extension of a chunk without an end': {
    answer: (socket) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n2;');
      void writeEndlessly(socket, 'a'.repeat(1000));
    },
    kept: false,
  },
  'trailers without an end': {
    answer: (socket) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n');
      void writeEndlessly(socket, `x-${'a'.repeat(1000)}: 1\r\n`);
    },
    kept: false,
  },
  'HTTP/1.0 that stays open': {
    answer: say('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n'),
    kept: true,
  },
  'lines without CR': { answer: say('HTTP/1.1 200 OK\nContent-Length: 0\n\n'), kept: false },
  'a status that nobody knows': { answer: say(`HTTP/1.1 999 No\r\n${NO_BODY}`), kept: true },
  'a coding, then chunks': {
    answer: say('HTTP/1.1 500 No\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'),
    kept: true,
  },
  'a chunk without a size': {
    answer: say('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhigh\r\n0\r\n\r\n'),
    kept: false,
  },
  'an empty line before': { answer: say(`\r\n${OK}${NO_BODY}`), kept: true },
};
