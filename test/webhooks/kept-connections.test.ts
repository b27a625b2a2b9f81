import type { Socket } from 'node:net';
import t from 'tap';
import { startPlainReceiver } from './plain-receiver.ts';
import { createSetUp } from './set-up.ts';

const ok = (socket: Socket): unknown => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');

for (const [how, close] of [
  ['closes', (socket: Socket): unknown => socket.end()],
  ['resets', (socket: Socket): unknown => socket.resetAndDestroy()],
] as const) {
  t.test(`a kept connection that the receiver ${how} as the next webhook arrives costs no attempt`, async (t) => {
    const receiver = await startPlainReceiver(t, (socket, onThis) => (onThis === 1 ? ok(socket) : close(socket)));
    const { open, row } = await createSetUp(t, receiver.url);
    const { webhooks, record } = await open();
    const first = await record();
    await webhooks.idle();
    const second = await record();
    await webhooks.idle(); // and no time has passed
    t.match(await row(first), { status: 'delivered', attempts: 1 });
    t.match(await row(second), { status: 'delivered', attempts: 1, error: null });
    t.same(receiver.seen, [first, second, second]);
    t.equal(receiver.connections(), 2);
  });

  t.test(
    `a receiver that ${how} every connection after its first answer gets a webhook twice in an attempt, and no more`,
    async (t) => {
      const receiver = await startPlainReceiver(t, (socket, onThis, connection) =>
        connection === 1 && onThis === 1 ? ok(socket) : close(socket),
      );
      const { open, row } = await createSetUp(t, receiver.url);
      const { webhooks, record } = await open();
      await record();
      await webhooks.idle();
      const second = await record();
      await webhooks.idle();
      t.match(await row(second), { status: 'pending', attempts: 1, error: /closed|ECONNRESET/ });
      t.equal(receiver.seen.filter((id) => id === second).length, 2);
    },
  );

  t.test(`a new connection that the receiver ${how} is a failed attempt`, async (t) => {
    const receiver = await startPlainReceiver(t, (socket) => close(socket));
    const { open, row } = await createSetUp(t, receiver.url);
    const { webhooks, record } = await open();
    const only = await record();
    await webhooks.idle();
    t.match(await row(only), { status: 'pending', attempts: 1 });
    t.same(receiver.seen, [only]);
  });
}
