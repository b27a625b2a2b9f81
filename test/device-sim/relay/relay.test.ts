import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { startRelay } from '@lapel/device-sim/relay/relay';
import { systemTimers } from '@lapel/device-sim/timers';
import t, { type Test } from 'tap';

/** All bytes until the end of this direction. The other direction stays open, which an iterator would close. */
async function allOf(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

/** A relay whose record is a list of lines, before a server that does what the test says. */
async function startBetween(t: Test, options: { mostConnections?: number } = {}) {
  const server: Server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const lines: string[] = [];
  const unreachable: string[] = [];
  const relay = await startRelay({
    listen: { host: '127.0.0.1', port: 0 },
    serviceUrl: `mqtt://127.0.0.1:${port}`,
    recorder: {
      connected: (device) => lines.push(`${device} connected`),
      disconnected: (device, how) => lines.push(`${device} ${how}`),
      message: (device, kind, topic) => lines.push(`${device} ${kind} ${topic}`),
      close: () => '',
    },
    timers: systemTimers,
    onUnreachable: (error) => unreachable.push(error.message),
    ...options,
  });
  t.teardown(async () => {
    await relay[Symbol.asyncDispose]();
    server.close();
  });
  return {
    relay,
    server,
    lines,
    unreachable,
    /** Opens a connection; resolves to both ends of it. */
    async open(): Promise<{ device: Socket; service: Socket }> {
      const arrived = once(server, 'connection');
      const device = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true });
      const [service] = (await arrived) as [Socket];
      return { device, service };
    },
  };
}

t.test('bytes that are no MQTT pass unchanged in both directions, each with an end of its own', async (t) => {
  const { relay, lines, open } = await startBetween(t);
  const { device, service } = await open();
  const closed = Promise.all([once(device, 'close'), once(service, 'close')]);
  device.end('GET / HTTP/1.1\r\n\r\n');
  t.equal(String(await allOf(service)), 'GET / HTTP/1.1\r\n\r\n');
  service.write('HTTP/1.1 400 ');
  service.end('Bad Request\r\n\r\n');
  t.equal(String(await allOf(device)), 'HTTP/1.1 400 Bad Request\r\n\r\n', 'after the end of the other direction');
  await closed;
  await relay[Symbol.asyncDispose]();
  t.strictSame(lines, []);
  t.match(relay.counts, { unread: 1, connections: 0 });
});

t.test('no byte is lost when the receiver is slow', async (t) => {
  const { open } = await startBetween(t);
  const { device, service } = await open();
  const bytes = randomBytes(24 * 1024 ** 2);
  const [there, back] = [bytes, Buffer.from(bytes.toReversed())];
  t.equal(device.write(there), false);
  service.end(back);
  device.end();
  // Neither end has read anything so far, so the bytes wait on their way.
  t.ok((await allOf(service)).equals(there));
  t.ok((await allOf(device)).equals(back));
});

t.test('when one side breaks, the other one is closed', async (t) => {
  const { relay, server, unreachable, open } = await startBetween(t, { mostConnections: 1 });
  for (const broken of ['device', 'service'] as const) {
    const ends = await open();
    const other = ends[broken === 'device' ? 'service' : 'device'];
    ends[broken].on('error', () => {}).resetAndDestroy();
    other.resume();
    await once(other, 'end');
    other.destroy();
  }

  const { device: first, service } = await open();
  const one = connect(relay.port, '127.0.0.1').on('error', () => {});
  await once(one, 'close');
  t.equal(relay.counts.refused, 1, 'one connection too many is closed at once');
  first.destroy();
  service.resume();
  await once(service, 'end');
  service.destroy();

  server.close();
  await once(server, 'close');
  const another = connect(relay.port, '127.0.0.1').on('error', () => {});
  another.resume();
  await once(another, 'close');
  t.match(unreachable, [/ECONN/]);
  t.equal(relay.counts.unreachable, 1);
});
