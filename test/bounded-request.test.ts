import type { Socket } from 'node:net';
import t from 'tap';
import { boundedRequest } from '../src/runtime/bounded-request.ts';
import { until } from './until.ts';
import { startPlainReceiver } from './webhooks/plain-receiver.ts';

const { signal } = new AbortController();
const ask = (url: string) =>
  boundedRequest(url, { signal, method: 'POST', body: '{}', headers: { 'content-length': '2' }, mostBytes: 1024 });

async function writeEndlessly(socket: Socket, text: string): Promise<void> {
  while (!socket.destroyed) await new Promise<void>((sent) => socket.write(text, () => setImmediate(sent)));
}

void t.test('interim answers are skipped, and the connection is closed afterwards', async (t) => {
  const receiver = await startPlainReceiver(t, (socket) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
  });
  const { status, body } = await ask(receiver.url);
  t.same([status, body.toString()], [200, 'ok']);
  await until(() => receiver.open() === 0);
});

for (const [name, head, endless] of [
  ['interim answers', '', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)],
  ['a status line', 'HTTP/1.1 200 ', 'a'.repeat(1000)],
  ['an extension of a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;', 'a'.repeat(1000)],
  ['a body', 'HTTP/1.1 200 OK\r\n\r\n', 'a'.repeat(1000)],
] as const) {
  t.test(`${name} without an end fails at a bound`, async (t) => {
    const receiver = await startPlainReceiver(t, (socket) => {
      socket.write(head);
      void writeEndlessly(socket, endless);
    });
    await t.rejects(ask(receiver.url), /longer than 1 KiB|Header overflow|Parse Error/i);
    await until(() => receiver.open() === 0);
  });
}
