import { Gauge } from 'prom-client';
import t, { type Test } from 'tap';
import { until } from '../until.ts';
import { startWorld, type World } from '../world.ts';
import { openMany } from './many-sockets.ts';
import { createNeighbour } from './neighbour.ts';

const ATTACKER = '127.0.0.66';
/** The largest document. */
const LARGE = '/openapi.json';

async function metric(world: World, name: string): Promise<number> {
  const text = (await world.anonymousAdmin().get('/metrics')).body as string;
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}
const refused = (world: World, bound: string) => metric(world, `lapel_http_refused_total{bound="${bound}"}`);

async function start(t: Test, env: Record<string, string> = {}) {
  const world = await startWorld(t, { env });
  const neighbour = await createNeighbour(t, world);
  const { http, admin } = world.service.addresses;
  return { world, neighbour, http, admin };
}

t.test(
  'a client that pipelines thousands of requests delays no other, and loses connections until the rest fit the bound',
  async (t) => {
    const { world, neighbour, http } = await start(t);
    const text = `GET ${LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(600);
    const attack = await openMany(t, http, 20, { from: ATTACKER, text: () => text, reads: true });
    await neighbour.works('20 connections pipeline 600 requests each');
    await attack.closed(1);
    t.ok((await refused(world, 'pipelined_requests')) >= 1);
  },
);

t.test('waiting requests of one address cut off no connection of another address', async (t) => {
  const { world, http } = await start(t);
  const text = `GET ${LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const attack = await openMany(t, http, 40, { from: ATTACKER, text: () => text.repeat(137) });
  await until(async () => (await refused(world, 'pipelined_requests')) >= 1);
  const few = 'GET /v1/none HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const other = await openMany(t, http, 3, { text: () => few.repeat(300), reads: true });
  await until(() => other.received.every((text) => text.split('HTTP/1.1 ').length === 301));
  // The address with the most waiting requests loses connections. A client that reads nothing does not see that.
  for (const socket of attack.sockets) socket.resume();
  await attack.closed(1);
  t.equal(other.gone(), 0);
});

t.test('unread answers delay no other client, and are cut if none of them is read', async (t) => {
  const { world, neighbour, http } = await start(t);
  const text = `GET ${LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(16);
  const attack = await openMany(t, http, 120, { from: ATTACKER, text: () => text });
  await neighbour.works('120 connections ask for 16 large answers each and read nothing');
  t.equal(await refused(world, 'requests_in_flight'), 0);
  await until(async () => {
    world.clock.advance(10_000);
    return (await refused(world, 'write_progress')) === 120;
  });
  for (const socket of attack.sockets) socket.resume();
  await attack.closed(120);
});

t.test('requests that have arrived in part delay no other client', async (t) => {
  const { world, neighbour, http } = await start(t);
  const { applicationId, secret } = await world.createTenant('attacker', { key: false, deviceEvent: false });
  const token = await world.tokenOf(applicationId, secret);
  const basic = `Authorization: Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}\r\n`;
  const head = (authorization: string, length: number) =>
    `POST /api/v1/authenticate HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Length: ${length}\r\n\r\n`;
  const wrong = `Authorization: Basic ${Buffer.from(`${applicationId}:x`).toString('base64')}\r\n`;
  const rollout = `POST /v1/applications/${applicationId}/rollouts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  const megabyte = 'x'.repeat(1024 * 1024 - 1);
  const kinds = [head(basic, 9), head(wrong, 9), head(basic, megabyte.length + 1) + megabyte];
  const bodies = `${rollout}Content-Length: ${megabyte.length + 1}\r\n\r\n${megabyte}`;
  const attack = await openMany(t, http, 1001, { from: ATTACKER, text: (index) => kinds[index % 3] ?? '' });
  const own = await openMany(t, http, 60, { from: '127.0.0.67', text: () => bodies, reads: true });
  await neighbour.works('1001 half-sent requests for tokens, 60 bodies of 1 MiB');
  for (const { sockets } of [attack, own]) for (const socket of sockets) socket.resume();
  await attack.closed(700);
  t.equal(await refused(world, 'requests_in_flight'), 0);
  t.ok((await refused(world, 'connections_per_address')) > 0, 'the attacker cut itself off');
  await until(() => own.received.filter((text) => text.startsWith('HTTP/1.1 429')).length > 40);
  t.match(
    own.received.find((text) => text !== ''),
    /Lapel-Error-Code: RATE_LIMITED/,
  );
  t.ok((await refused(world, 'body_bytes_of_source')) > 40, 'one application has 16 MiB of bodies at most');
});

t.test('when bodies that are still arriving take all the memory for them, a further one is answered 503', async (t) => {
  const { world, http } = await start(t);
  const body = 'x'.repeat(1024 * 1024 - 1);
  const taken = [];
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    const { path, applicationId, secret } = await world.createTenant(name, { key: false, deviceEvent: false });
    const token = await world.tokenOf(applicationId, secret);
    const head = `POST ${path}/rollouts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
    const text = `${head}Content-Length: ${body.length + 1}\r\n\r\n${body}`;
    taken.push(await openMany(t, http, 16, { text: () => text }));
  }
  const { api, path } = await world.createTenant('six');
  const post = () => api.post(`${path}/rollouts`, { text: body, headers: { 'content-type': 'application/json' } });
  await until(async () => (await post()).status === 503);
  t.match(await post(), { status: 503, headers: { 'lapel-error-code': 'OVERLOADED', 'retry-after': '1' } });
  for (const { sockets } of taken) for (const socket of sockets) socket.destroy();
  await until(async () => (await post()).status === 400);
  t.pass('when they are gone, bodies are read again');
});

t.test('credentials are checked before a form is read, and a form is small', async (t) => {
  const { world, http } = await start(t);
  const { applicationId, secret } = await world.createTenant('attacker', { key: false, deviceEvent: false });
  const post = (password: string, length: number, more = '') =>
    `POST /api/v1/authenticate HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${Buffer.from(
      `${applicationId}:${password}`,
    ).toString('base64')}\r\nContent-Length: ${length}\r\n\r\n${more}`;
  const texts = [post('guess', 100), post(secret, 1024 * 1024), post(secret, 8193, 'x'.repeat(8193))];
  const { received } = await openMany(t, http, 3, { text: (index) => texts[index] ?? '', reads: true });
  await until(() => received.every((text) => text.includes('}')));
  t.match(received[0], /^HTTP\/1.1 401 .*Lapel-Error-Code: CLIENT_INVALID.*"error":"invalid_client"/s);
  for (const text of received.slice(1)) {
    t.match(text, /^HTTP\/1.1 413 .*Lapel-Error-Code: BODY_TOO_LARGE.*"error":"invalid_request"/s);
  }
});

t.test('idle connections up to the bound are cut for those that have something to say', async (t) => {
  const { world, neighbour, http, admin } = await start(t);
  const idle = [
    await openMany(t, http, 400, { from: ATTACKER }),
    await openMany(t, http, 400, { from: '127.0.0.67' }),
    await openMany(t, admin, 600, { from: ATTACKER }),
  ];
  await neighbour.works('1400 idle connections');
  for (const { sockets } of idle) for (const socket of sockets) socket.resume();
  await idle[0]?.closed(100);
  await idle[2]?.closed(80);
  t.match(await world.anonymousAdmin().get('/readyz'), { status: 200 }, 'there is room for further ones');
  t.match(await world.anonymous().get('/docs'), { status: 200 });
});

t.test(
  'wrong credentials above a rate wait for their answer, right ones never do, and the log reports it',
  async (t) => {
    const { world, neighbour, http, admin } = await start(t, { LAPEL_FAILED_LOGIN_LIMIT: '2' });
    const { applicationId, secret } = await world.createTenant('attacked', { key: false, deviceEvent: false });
    const basic = Buffer.from(`${applicationId}:guess`).toString('base64');
    const requests = [
      `POST /api/v1/authenticate HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${basic}\r\nContent-Length: 0\r\n\r\n`,
      `GET /v1/applications/${applicationId} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a.b.c\r\n\r\n`,
    ];
    const text = (index: number) => (requests[index % 2] ?? '').repeat(8);
    const api = await openMany(t, http, 30, { from: ATTACKER, text, reads: true });
    const wrong = `GET /admin/v1/developers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n\r\n`.repeat(
      8,
    );
    const console = await openMany(t, admin, 10, { from: ATTACKER, text: () => wrong, reads: true });
    await neighbour.works('wrong credentials on 40 connections');
    const statuses = ({ received }: typeof api) => received.join('').match(/HTTP\/1.1 \d+/g) ?? [];
    t.equal(statuses(api).length, 4, 'a burst is answered at once, all others wait');
    t.equal(statuses(console).length, 4);
    t.equal(await world.tokenOf(applicationId, secret).then((token) => token.length > 0), true);
    t.match(await world.admin().get('/admin/v1/developers'), { status: 200 });
    world.clock.advance(1_000);
    await until(() => statuses(api).length > 30 && statuses(console).length > 10);
    t.match(api.received.join(''), /HTTP\/1.1 429 .*?Retry-After: \d+\r\n.*?Lapel-Error-Code: RATE_LIMITED/s);
    t.ok((await refused(world, 'login_failures')) >= 34);
    t.ok((await metric(world, 'lapel_login_failures_total{listener="admin"}')) >= 10);
  },
);

t.test(
  'eight constant scrapers of the metrics cost as much as one, because the metrics are written once a second',
  async (t) => {
    const world = await startWorld(t, { keepsMetrics: true });
    const neighbour = await createNeighbour(t, world);
    const { addresses, metrics } = world.service;
    let written = 0;
    new Gauge({
      name: 'test_looks',
      help: 'How often all of them were looked at',
      registers: [metrics.registry],
      collect: () => {
        written += 1;
      },
    });
    const text = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(10);
    const scrapers = await openMany(t, addresses.admin, 8, { text: () => text, reads: true });
    await neighbour.works('eight scrapers of /metrics', 10);
    await until(() => scrapers.answers.every((count) => count > 0));
    t.equal(written, 1);
    world.clock.advance(1_000);
    await world.anonymousAdmin().get('/metrics');
    t.equal(written, 2, 'and a second later once more');
  },
);
