import { connect } from 'node:net';
import t from 'tap';
import { startWorld } from '../world.ts';

t.test('probes and metrics want no token and take GET alone', async (t) => {
  const world = await startWorld(t);
  const probe = world.anonymousAdmin();
  for (const path of ['/healthz', '/readyz']) {
    const answer = await probe.get(path);
    t.match(answer, { status: 200, headers: { 'content-type': /^application\/json/ } }, path);
    t.same(answer.body, { status: 'ok' });
  }
  t.match(await probe.get('/metrics'), { status: 200, headers: { 'content-type': /^text\/plain; version=0\.0\.4/ } });
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      t.match(await probe.request(method, path), { status: 403, body: { message: 'wrong url.' } }, `${method} ${path}`);
    }
    t.match(await probe.get(path, { token: 'nonsense' }), { status: 200 }, 'a token is not looked at');
  }
});

t.test('while it drains the service is alive and not ready, and finishes what it has begun', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const token = await world.tokenOf(tenant.applicationId, tenant.secret);
  const probe = world.anonymousAdmin();
  const { hostname, port } = new URL(world.service.addresses.http);
  const socket = connect({ host: hostname, port: Number(port) });
  t.teardown(() => socket.destroy());
  let received = '';
  socket.setEncoding('utf8').on('data', (more: string) => {
    received += more;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const body = '{"callEvent":"https://a.example"}';
  const asked = new Promise((resolve) => socket.once('data', resolve));
  socket.write(`PATCH ${tenant.path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n`);
  socket.write(`Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
  await asked; // the request is in the service's hands
  const stopped = world.service[Symbol.asyncDispose]();

  const ready = await probe.get('/readyz');
  t.match(ready, { status: 503, headers: { 'retry-after': '1' }, body: { status: 'unavailable' } });
  t.match(await probe.get('/healthz'), { status: 200 });
  const late = connect({ host: hostname, port: Number(port) });
  const refused = await new Promise<boolean>((resolve) => {
    late.once('connect', () => resolve(false));
    late.once('error', () => resolve(true));
  });
  t.ok(refused, 'no further connection');
  socket.write(body);
  await closed;
  t.match(received, /HTTP\/1\.1 200 OK\r\n/);
  t.match(received, /\r\nConnection: close\r\n/i);
  await stopped;
  await world.restart();
  await tenant.renew();
  t.match((await tenant.api.get(tenant.path)).body, { callEvent: 'https://a.example' }, 'and nothing of it is lost');
});
