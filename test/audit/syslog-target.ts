import { appendFileSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createServer as createSecured } from 'node:tls';

/** Splits a stream into messages that have their length before them (RFC 6587 3.4.1). */
export function createCounter(took: (message: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const space = rest.indexOf(' ');
      if (space === -1) return;
      const length = Number(rest.toString('ascii', 0, space));
      if (!Number.isInteger(length)) throw new Error(`no length: ${rest.toString('ascii', 0, space)}`);
      if (rest.length < space + 1 + length) return;
      took(rest.toString('utf8', space + 1, space + 1 + length));
      rest = rest.subarray(space + 1 + length);
    }
  };
}

// As a program it is a receiver that can be killed: it appends each message to a file, and says when it listens.
const [, program, port, file, cert, key] = process.argv;
if (program === import.meta.filename && file !== undefined) {
  const serve = (socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.on(
      'data',
      createCounter((message) => appendFileSync(file, `${message}\n`)),
    );
  };
  const server =
    cert !== undefined && key !== undefined
      ? createSecured({ cert: readFileSync(cert), key: readFileSync(key) }, serve)
      : createServer(serve);
  server.listen(Number(port), '127.0.0.1', () => {
    const address = server.address();
    process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
  });
}
