import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { WebSocket } from 'ws';
import { readConfig } from '../../src/config.ts';
import { connectBytes, openRawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { createAuthority, skip } from './authority.ts';
import { startSecured } from './secured-world.ts';

t.test('MQTT over TLS and over WebSocket', { skip }, async (t) => {
  const { world, folder, authority, server, ca, mqtts, mqttWs } = await startSecured(t);
  const tenant = await world.createTenant();
  const device = await world.registerDevice();
  const { deviceId } = device;
  const certificate = authority.sign(deviceId);
  const open = async (options: Partial<Parameters<typeof openRawDevice>[0]>) => {
    const connect = { username: options.deviceId ?? deviceId };
    const opened = await openRawDevice({ url: mqtts, deviceId, connect, ...options });
    t.teardown(() => opened.socket.destroy());
    return opened;
  };

  for (const [name, url] of [
    ['TLS', mqtts],
    ['WebSocket over TLS', mqttWs],
  ] as const) {
    t.test(`${name}: a device logs in with its credential, gets its command and settles it`, async (t) => {
      const link = await open({ url, credential: device.credential, tls: { ca } });
      t.equal((await link.login()).returnCode, 0);
      t.same(await link.subscribe(`devices/${deviceId}/commands`), [1]);
      const { body } = await tenant.api.post(`${tenant.path}/devices/${deviceId}`, { json: {} });
      const command = await link.command();
      t.equal(command.transactionId, body.transactionId);
      const { body: connection } = await world.admin().get(`/admin/v1/devices/${deviceId}/connection`);
      t.match(connection, { connected: true, transport: new URL(url).protocol.slice(0, -1), address: '127.0.0.1' });
      link.puback(command.packet);
      await link.ack({ transactionId: command.transactionId, status: 'failed' });
      t.equal((await tenant.event()).type, 'transaction.failed');
      await link.drop();
    });

    t.test(`${name}: a certificate with the deviceId as its name is as good as the credential`, async (t) => {
      const link = await open({ url, tls: { ca, ...certificate } });
      t.equal((await link.login()).returnCode, 0);
      await link.drop();
    });

    t.test(`${name}: any other certificate is refused`, async (t) => {
      const stranger = createAuthority(join(folder, 'tls'), `stranger-${new URL(url).protocol.slice(0, -1)}`);
      const cases = {
        'of another device': authority.sign(deviceIdOf(7)),
        'of another authority': stranger.sign(deviceId),
        none: {},
      };
      for (const [title, shown] of Object.entries(cases)) {
        const link = await open({ url, tls: { ca, ...shown } });
        t.equal((await link.login()).returnCode, 4, title);
        await link.closed;
      }
      const unknown = deviceIdOf(9999);
      const link = await open({ url, deviceId: unknown, tls: { ca, ...authority.sign(unknown) } });
      t.equal((await link.login()).returnCode, 4, 'of a device that is not registered');
      const wrong = await open({ url, credential: 'wrong', tls: { ca, ...certificate } });
      t.equal((await wrong.login()).returnCode, 4, 'a wrong password is wrong, whatever the certificate says');
    });
  }

  t.test('metrics tell when the certificates expire, so that an operator hears of it in time', async (t) => {
    const text = (await world.anonymousAdmin().get('/metrics')).body as string;
    const expiry = (file: string): number =>
      Number(text.split(`lapel_tls_certificate_expiry_timestamp_seconds{file="${file}"} `)[1]?.split('\n', 1)[0]);
    const [cert] = ca.toString().split(/(?<=-----END CERTIFICATE-----)/);
    t.equal(expiry('client_ca'), Date.parse(new X509Certificate(cert ?? '').validTo) / 1000);
    t.equal(expiry('cert'), Date.parse(new X509Certificate(readFileSync(server.certFile)).validTo) / 1000);
  });

  t.test('a connection that is cut without a packet is noticed on every listener', async (t) => {
    for (const url of [mqtts, mqttWs]) {
      const link = await open({ url, credential: device.credential, tls: { ca } });
      t.equal((await link.login()).returnCode, 0);
      t.ok(world.service.isConnected(deviceId));
      link.socket.destroy();
      await until(() => !world.service.isConnected(deviceId));
      t.pass(url);
    }
  });

  t.test('a client without TLS gets no answer', async (t) => {
    const link = await openRawDevice({ ...device, url: mqtts.replace('mqtts', 'mqtt') });
    await t.rejects(link.login(), { message: /the connection ended before a connack came/ });
  });

  t.test('a WebSocket may offer mqttv3.1, as clients of MQTT 3.1 do', async (t) => {
    for (const [offered, chosen] of [
      [['mqttv3.1'], 'mqttv3.1'],
      [['mqttv3.1', 'mqtt'], 'mqtt'],
    ] as const) {
      const socket = new WebSocket(mqttWs, [...offered], { ca });
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      t.equal(socket.protocol, chosen);
      socket.terminate();
    }
  });

  t.test('a request that is not a WebSocket with the subprotocol mqtt gets an HTTP error', async (t) => {
    const page = await fetchOver(mqttWs, ca, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    t.match(page, /^HTTP\/1\.1 426 .*\r\n/);
    const other = new WebSocket(mqttWs, 'chat', { ca });
    const error = await new Promise<Error>((resolve) => other.once('error', resolve));
    t.match(error.message, /400/);
    const upgrade = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    t.match(await fetchOver(mqttWs, ca, upgrade, { allowHalfOpen: true }), /^HTTP\/1\.1 400 /, 'and let go of');
  });

  t.test('a WebSocket message larger than the largest packet ends its connection only', async (t) => {
    const link = await open({ url: mqttWs, credential: device.credential, tls: { ca } });
    t.equal((await link.login()).returnCode, 0);
    link.socket.write(Buffer.alloc(300 * 1024));
    await link.closed;
    t.equal((await tenant.api.get(tenant.path)).status, 200);
  });

  t.test('the service stops with connections open on every listener', async (t) => {
    await open({ credential: device.credential, tls: { ca } });
    const idle = connectTcp(Number(new URL(mqtts).port), '127.0.0.1'); // never begins its handshake
    const closed = new Promise((resolve) => idle.once('close', resolve));
    idle.on('error', () => undefined);
    await new Promise((resolve) => idle.once('connect', resolve));
    await world.service[Symbol.asyncDispose]();
    await closed;
    t.pass('and ends them');
  });
});

t.test('connections are counted over all listeners', { skip }, async (t) => {
  const { world, ca, mqtts, mqttWs } = await startSecured(t, { LAPEL_MQTT_MAX_CONNECTIONS: '2' });
  await world.createTenant();
  const devices = [await world.registerDevice(), await world.registerDevice(), await world.registerDevice()];
  const [first, second, third] = devices as [(typeof devices)[0], (typeof devices)[0], (typeof devices)[0]];
  await world.connect(first);
  const link = await openRawDevice({ url: mqtts, ...second, tls: { ca } });
  t.teardown(() => link.socket.destroy());
  t.equal((await link.login()).returnCode, 0);
  const refused = await openRawDevice({ url: mqttWs, ...third, tls: { ca } });
  await refused.closed;
  await link.drop();
  await until(() => !world.service.isConnected(second.deviceId));
  const next = await openRawDevice({ url: mqttWs, ...third, tls: { ca } });
  t.teardown(() => next.socket.destroy());
  t.equal((await next.login()).returnCode, 0);
});

/** Sends raw HTTP over TLS; resolves to the answer. */
function fetchOver(url: string, ca: Buffer, request: string, options: object = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTls({ host: '127.0.0.1', port: Number(new URL(url).port), ca, ...options });
    socket.on('error', () => undefined);
    // On a half-open connection this continues until the other side is gone.
    const writeOn = (): void => {
      if (!socket.destroyed) socket.write('more', () => setImmediate(writeOn));
    };
    socket.on('end', writeOn);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('close', () => resolve(text));
    socket.write(request);
  });
}

t.test('wrong combinations of TLS settings are named', async (t) => {
  const problem = (env: Record<string, string>): string => {
    try {
      readConfig({ env });
      return 'none';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const files = { LAPEL_TLS_CERT: 'cert.pem', LAPEL_TLS_KEY: 'key.pem' };
  t.match(problem({ LAPEL_MQTTS_PORT: '8883' }), 'LAPEL_TLS_CERT: is needed');
  t.match(problem({ LAPEL_MQTT_CLIENT_CA: 'ca.pem' }), 'LAPEL_TLS_CERT: is needed');
  t.match(problem({ LAPEL_MQTTS_PORT: '8883', LAPEL_TLS_CERT: 'cert.pem' }), 'LAPEL_TLS_KEY: is needed');
  t.match(problem(files), 'LAPEL_TLS_CERT: has no use');
  t.match(problem({ ...files, LAPEL_MQTT_CLIENT_CRL: 'crl.pem' }), 'LAPEL_MQTT_CLIENT_CRL: needs LAPEL_MQTT_CLIENT_CA');
  const open = { LAPEL_MQTT_WS_PORT: '8083', LAPEL_MQTT_WS_HOST: '0.0.0.0' };
  t.match(problem(open), 'LAPEL_MQTT_WS_HOST: 0.0.0.0 is not loopback');
  t.equal(problem({ ...open, ...files }), 'none');
  t.equal(problem({ ...open, LAPEL_ALLOW_PLAIN_MQTT: 'true' }), 'none');
  for (const name of ['LAPEL_HTTP_HOST', 'LAPEL_ADMIN_HOST', 'LAPEL_OBJECTS_HOST']) {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'lapel.example', '127.0.0.1.example', 'localhost.example']) {
      t.match(
        problem({ [name]: host }),
        `${name}: ${host} is not loopback: plain HTTP there needs LAPEL_ALLOW_PLAIN_HTTP`,
      );
      t.equal(problem({ [name]: host, LAPEL_ALLOW_PLAIN_HTTP: 'true' }), 'none');
    }
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) t.equal(problem({ [name]: host }), 'none');
  }
  t.match(problem({ LAPEL_ADMIN_NAMES: 'a.example, b.example' }), 'LAPEL_ADMIN_NAMES: must be host names separated');
});

t.test('unusable TLS files are named', { skip }, async (t) => {
  const folder = t.testdir({ data: {}, 'text.pem': 'no PEM' });
  const authority = createAuthority(folder, 'fleet');
  const { ca } = authority;
  const { certFile, keyFile } = authority.sign('server');
  const text = join(folder, 'text.pem');
  for (const [setting, file] of [
    ['LAPEL_TLS_CERT', join(folder, 'missing')],
    ['LAPEL_TLS_CERT', text],
    ['LAPEL_TLS_KEY', text],
    ['LAPEL_MQTT_CLIENT_CA', text],
    ['LAPEL_MQTT_CLIENT_CRL', text],
  ] as const) {
    const files = { LAPEL_TLS_CERT: certFile, LAPEL_TLS_KEY: keyFile, LAPEL_MQTT_CLIENT_CA: ca };
    const env = { LAPEL_MQTTS_PORT: '0', ...files, [setting]: file };
    const started = startWorld(t, { dataDir: join(folder, 'data'), env });
    await t.rejects(started, { message: new RegExp(`^${setting}: cannot use ${file} \\(`) });
  }
});

t.test('the time to log in begins when the handshake of TLS is done', { skip }, async (t) => {
  const { world, ca, mqtts } = await startSecured(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const slow = connectTcp({ host: '127.0.0.1', port: Number(new URL(mqtts).port) });
  t.teardown(() => slow.destroy());
  const waiting = async () => (await world.service.metrics.mqttWaiting.get()).values[0]?.value;
  await until(async () => (await waiting()) === 1);
  world.clock.advance(20_000); // a handshake over a slow line
  const socket = connectTls({ socket: slow, ca, servername: 'localhost', checkServerIdentity: () => undefined });
  await once(socket, 'secureConnect');
  socket.write(connectBytes(device));
  const [connack] = (await once(socket, 'data')) as [Buffer];
  t.same([...connack], [0x20, 2, 0, 0]);
  const silent = connectTls({ host: '127.0.0.1', port: Number(new URL(mqtts).port), ca });
  t.teardown(() => silent.destroy());
  let ended = false;
  silent.once('close', () => {
    ended = true;
  });
  await once(silent, 'secureConnect');
  while (!ended) {
    await turn(); // time for the end of the handshake to arrive
    world.clock.advance(10_000);
  }
  t.pass('who says nothing behind it is cut off');
});
