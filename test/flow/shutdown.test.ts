import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { startWorld, type World } from '../world.ts';
import { refusedOn } from './service-process.ts';

const portOf = (url: string): number => Number(new URL(url).port);

/** A connection to a listener, on which a client has sent the text, and its end. */
async function connectTo(url: string, text: string): Promise<{ socket: Socket; closed: Promise<unknown> }> {
  const socket = connect(portOf(url), '127.0.0.1');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  socket.write(text);
  await fetch(`${url}/healthz`); // connections are accepted in their order, and what was sent is read
  return { socket, closed };
}

async function connectAll({ service: { addresses } }: World, text: string) {
  const { http, admin, objects } = addresses;
  const [toApi, toAdmin, toObjects] = await Promise.all([http, admin, objects].map((url) => connectTo(url, text)));
  return { http, admin, toApi: toApi!, toAdmin: toAdmin!, toObjects: toObjects! };
}

t.test('half requests on every listener: the times in which they may end overlap', async (t) => {
  const world = await startWorld(t);
  const { http, admin, toApi, toAdmin, toObjects } = await connectAll(world, 'POST /x HTTP/1.1\r\nHo');
  const stopped = world.service[Symbol.asyncDispose]();
  await refusedOn(portOf(http));
  world.clock.advance(3_000);
  await toApi.closed;
  await refusedOn(portOf(admin));
  world.clock.advance(3_000);
  await toAdmin.closed;
  world.clock.advance(2_000); // eight seconds since the beginning; a process ends itself after ten
  await toObjects.closed;
  await stopped;
  t.pass('the service has ended');
});

t.test('connections that have sent nothing are closed at once', async (t) => {
  const world = await startWorld(t);
  const { toApi, toAdmin, toObjects } = await connectAll(world, '');
  await world.service[Symbol.asyncDispose](); // the clock stands still
  await Promise.all([toApi.closed, toAdmin.closed, toObjects.closed]);
  t.pass('the service has ended');
});

t.test('a service that leaves serves on, is not ready, and asks for its connections to be closed', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant(); // its connections are kept
  const admin = world.anonymousAdmin();
  t.match(await admin.get('/readyz'), { status: 200, headers: { connection: 'keep-alive' } });
  const left = world.service.leave();
  t.match(await admin.get('/readyz'), {
    status: 503,
    headers: { connection: 'close' },
    body: { problems: [{ part: 'service', reason: 'is stopping' }] },
  });
  t.match(await tenant.api.get(tenant.path), { status: 200, headers: { connection: 'close' } });
  world.clock.advance(500);
  await left;
});
