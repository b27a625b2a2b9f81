import { connect } from 'node:net';
import t from 'tap';
import { request } from 'undici';
import { startWorld } from '../world.ts';

t.test('probes and metrics need no token, and accept GET only', async (t) => {
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

t.test('while it drains the service is alive and not ready, and finishes its requests', async (t) => {
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
  socket.write(`PATCH ${tenant.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`);
  socket.write(`Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
  await asked; // the service handles the request
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

t.test('administration answers to its own names, and refuses foreign names that lead to it', async (t) => {
  const world = await startWorld(t, {
    env: { LAPEL_ADMIN_NAMES: 'admin.internal,LAPEL', LAPEL_CONSOLE_URL: 'https://console.example/lapel' },
  });
  const admin = world.admin();
  const statuses = async (host: string): Promise<number[]> => {
    const paths = ['/admin/v1/developers', '/metrics', '/healthz', '/readyz'];
    const answers = await Promise.all(paths.map((path) => admin.get(path, { headers: { host } })));
    const page = await request(`${world.service.addresses.admin}/console`, { headers: { host } });
    await page.body.dump();
    return [page.statusCode, ...answers.map(({ status }) => status)];
  };
  const own = ['localhost', 'LocalHost:1', 'a.localhost', 'admin.internal', 'lapel:8081', 'console.example', 'lapel.'];
  const addresses = ['127.0.0.1:8081', '10.1.2.3', '[::1]:8081', '[fd00::1]', '192.0.2.1:80'];
  for (const host of [...own, ...addresses]) t.same(await statuses(host), [200, 200, 200, 200, 200], host);
  const strangers = [
    'evil.example',
    'evil.example:8081',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '[evil]',
    '2130706433',
  ];
  for (const host of strangers) t.same(await statuses(host), [403, 403, 403, 200, 200], host);
  const refused = await admin.get('/admin/v1/developers', { headers: { host: 'evil.example' } });
  t.equal(refused.headers['lapel-error-code'], 'HOST_UNKNOWN');
});
