import t from 'tap';
import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';
import { keptLog } from './log-lines.ts';

t.test('behind a proxy that is trusted, bounds, log and audit log are about the client', async (t) => {
  const { log, lines } = keptLog();
  const world = await startWorld(t, {
    log,
    env: {
      LAPEL_TRUST_PROXY: '127.0.0.1',
      LAPEL_HTTP_ADDRESS_CONNECTIONS: '1',
      LAPEL_MQTT_WS_PORT: '0',
      LAPEL_MQTT_ADDRESS_LOGINS: '1',
    },
  });
  const { addresses, adminToken } = world.service;
  const strangers = new Agent({ localAddress: '127.0.0.2' });
  t.teardown(() => strangers.destroy());
  const admin = world.admin();
  const lastEntry = async () => (await admin.get('/admin/v1/audit?limit=1')).body.entries[0];
  let developers = 0;
  async function create(headers: Record<string, string>, dispatcher?: Agent): Promise<string> {
    developers += 1;
    const { statusCode, body } = await request(`${addresses.admin}/admin/v1/developers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ developerId: `d${developers}`, name: 'name' }),
      ...(dispatcher && { dispatcher }),
    });
    await body.dump();
    t.equal(statusCode, 201);
    return (await lastEntry()).address;
  }

  t.test('the audit log names the client that a proxy tells, and nobody else can name one', async (t) => {
    t.equal(await create({ 'x-forwarded-for': '6.6.6.6, 192.0.2.7' }), '192.0.2.7');
    t.equal(await create({ forwarded: 'for="[2001:db8::7]:4711";proto=https' }), '2001:db8::7');
    t.equal(await create({}), '127.0.0.1', 'without a header it is the proxy itself');
    t.equal(await create({ 'x-forwarded-for': '192.0.2.7', forwarded: 'for=6.6.6.6' }), '127.0.0.1');
    t.match(lines.at(-1), { level: 40, address: '127.0.0.1', msg: /LAPEL_PROXY_HEADER must name the one/ });
    t.equal(await create({ 'x-forwarded-for': '192.0.2.7' }, strangers), '127.0.0.2', 'a stranger is not believed');
  });

  t.test('the log names the client of a refused request', async (t) => {
    await world.anonymous().get('/v1/applications/dev-app', {
      headers: { 'x-forwarded-for': '192.0.2.8', authorization: 'Bearer wrong' },
    });
    t.match(lines.at(-1), { msg: 'request refused', code: 'TOKEN_INVALID', address: '192.0.2.8' });
  });

  const page = {
    'content-type': 'application/json',
    'x-forwarded-host': 'console.example',
    'x-lapel-console': '1',
    origin: 'https://console.example',
    'sec-fetch-site': 'same-origin',
  };
  async function logIn(token: string, headers: Record<string, string> = {}, dispatcher?: Agent): Promise<number> {
    const { statusCode, body } = await request(`${addresses.admin}/console/session`, {
      method: 'POST',
      headers: { ...page, ...headers },
      body: JSON.stringify({ token }),
      ...(dispatcher && { dispatcher }),
    });
    await body.dump();
    return statusCode;
  }

  t.test('wrong tokens of one client do not keep another client from its login', async (t) => {
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      statuses.push(await logIn('wrong', { 'x-forwarded-for': '192.0.2.9' }));
    }
    t.same(statuses, [401, 401, 401, 401, 401, 429]);
    t.equal(await logIn('wrong', { 'x-forwarded-for': '192.0.2.10' }), 401);
  });

  t.test('the console believes the host that a proxy tells, and not that of anybody else', async (t) => {
    t.equal(await logIn(adminToken, { 'x-forwarded-for': '192.0.2.9' }), 204);
    t.equal((await lastEntry()).address, '192.0.2.9', 'the audit log has the address of a login');
    t.equal(await logIn(adminToken, {}, strangers), 403);
  });

  t.test('a client with as many open requests as it may have is refused, and another client is served', async (t) => {
    const tenant = await world.createTenant('dev', { key: false, deviceEvent: false });
    const token = await world.tokenOf(tenant.applicationId, tenant.secret);
    const read = async (client: string, path: string) =>
      request(`${addresses.http}${path}`, {
        headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': client },
      });
    const stream = await read('192.0.2.11', `${tenant.path}/feed?topics=transactions`);
    t.equal(stream.statusCode, 200);
    const second = await read('192.0.2.11', tenant.path);
    t.match([second.statusCode, second.headers['retry-after']], [429, '1']);
    t.equal((await read('192.0.2.12', tenant.path)).statusCode, 200, 'all come on connections of one address');
    stream.body.on('error', () => undefined).destroy();
    await until(async () => (await read('192.0.2.11', tenant.path)).statusCode === 200);
    const metrics = (await world.anonymousAdmin().get('/metrics')).body as string;
    t.match(metrics, /lapel_http_refused_total\{bound="requests_per_client"\} [1-9]/);
  });

  t.test('a device over WebSocket has the address that the proxy tells, and its own bound', async (t) => {
    const open = (client: string): WebSocket => {
      const socket = new WebSocket(addresses.mqttWs ?? '', 'mqtt', { headers: { 'x-forwarded-for': client } });
      socket.on('error', () => undefined);
      t.teardown(() => socket.terminate());
      return socket;
    };
    const ended = (socket: WebSocket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));
    const opened = (socket: WebSocket): Promise<unknown> => new Promise((resolve) => socket.once('open', resolve));
    const first = open('192.0.2.13');
    await opened(first);
    await ended(open('192.0.2.13'));
    t.match(
      lines.filter(({ reason }) => reason === 'address'),
      [{ address: '192.0.2.13' }],
    );
    await opened(open('192.0.2.14'));
    t.equal(first.readyState, WebSocket.OPEN);
  });
});

t.test('settings that do not go together are refused, by name', async (t) => {
  const { readConfig } = await import('../../src/config.ts');
  for (const [env, problem] of [
    [{ LAPEL_TRUST_PROXY: 'proxy.example' }, /LAPEL_TRUST_PROXY: must be IP addresses and networks/],
    [{ LAPEL_PROXY_HEADER: 'forwarded' }, /LAPEL_PROXY_HEADER: needs LAPEL_TRUST_PROXY/],
    [{ LAPEL_PROXY_HEADER: 'via', LAPEL_TRUST_PROXY: 'loopback' }, /LAPEL_PROXY_HEADER: must be one of/],
    [{ LAPEL_PROXY_PROTOCOL: 'mqtt' }, /LAPEL_PROXY_PROTOCOL: needs LAPEL_TRUST_PROXY/],
    [{ LAPEL_PROXY_PROTOCOL: 'mqtt,rest', LAPEL_TRUST_PROXY: 'loopback' }, /LAPEL_PROXY_PROTOCOL: must be names of/],
    [{ LAPEL_PROXY_PROTOCOL: 'mqtts', LAPEL_TRUST_PROXY: 'loopback' }, /LAPEL_PROXY_PROTOCOL: mqtts has no listener/],
    [{ LAPEL_HTTP_TLS_CERT: 'cert.pem' }, /LAPEL_HTTP_TLS_KEY: is needed with LAPEL_HTTP_TLS_CERT/],
    [{ LAPEL_ADMIN_TLS_KEY: 'key.pem' }, /LAPEL_ADMIN_TLS_CERT: is needed with LAPEL_ADMIN_TLS_KEY/],
    [{ LAPEL_ADMIN_TLS_CLIENT_CA: 'ca.pem' }, /LAPEL_ADMIN_TLS_CERT: is needed with LAPEL_ADMIN_TLS_CLIENT_CA/],
    [
      { LAPEL_OBJECTS_TLS_CERT: 'a', LAPEL_OBJECTS_TLS_KEY: 'b', LAPEL_S3_ENDPOINT: 'http://127.0.0.1:9' },
      /LAPEL_OBJECTS_TLS_CERT: has no use with LAPEL_S3_ENDPOINT/,
    ],
    [{ LAPEL_HTTP_HOST: '0.0.0.0' }, /LAPEL_HTTP_HOST: 0\.0\.0\.0 is not loopback.* HTTPS needs LAPEL_HTTP_TLS_CERT/],
    [{ LAPEL_MQTT_PUBLIC_URL: 'https://mqtt.example' }, /LAPEL_MQTT_PUBLIC_URL: must be mqtt, mqtts, ws or wss URLs/],
    [{ LAPEL_MQTT_PUBLIC_URL: 'mqtts://a,mqtts://b' }, /LAPEL_MQTT_PUBLIC_URL: must be .* at most one of each/],
    [{ LAPEL_METRICS_HOST: '10.0.0.7' }, /LAPEL_METRICS_HOST: has no use without LAPEL_METRICS_PORT/],
  ] as const) {
    t.throws(() => readConfig({ env }), { message: problem });
  }
  const { entrance } = readConfig({
    env: { LAPEL_HTTP_HOST: '0.0.0.0', LAPEL_HTTP_TLS_CERT: 'a', LAPEL_HTTP_TLS_KEY: 'b' },
  });
  t.same(entrance.tls.api, { cert: 'a', key: 'b', clientCa: null, clientCrl: null }, 'with TLS any address is fine');
});
