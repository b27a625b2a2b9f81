import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { request } from 'undici';
import { createAuthority, skip } from '../broker/authority.ts';
import { connectBytes, openRawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';
import { keptLog } from './log-lines.ts';
import { addressesOf, binaryHeader, textHeader } from './proxy-headers.ts';
import { startRelay, through } from './relay.ts';

const CLIENT = '192.0.2.7';

t.test('listeners with the PROXY protocol', { skip }, async (t) => {
  const { log, lines } = keptLog();
  const folder = t.testdir({ data: {}, tls: {} });
  const authority = createAuthority(`${folder}/tls`, 'fleet');
  const server = authority.sign('server');
  const world = await startWorld(t, {
    log,
    dataDir: `${folder}/data`,
    env: {
      LAPEL_TRUST_PROXY: '127.0.0.1',
      LAPEL_PROXY_PROTOCOL: 'mqtt,mqtts,ws,objects',
      LAPEL_MQTTS_PORT: '0',
      LAPEL_MQTT_WS_PORT: '0',
      LAPEL_MQTT_ADDRESS_LOGINS: '1',
      LAPEL_MQTT_PUBLIC_URL: 'mqtts://mqtt.example:8883, wss://mqtt.example/mqtt',
      LAPEL_TLS_CERT: server.certFile,
      LAPEL_TLS_KEY: server.keyFile,
    },
  });
  const { mqtt, mqtts = '', mqttWs = '', objects } = world.service.addresses;
  const device = await world.registerDevice(
    (await world.createTenant('dev', { key: false, deviceEvent: false })).developerId,
  );
  const tls = { ca: readFileSync(authority.ca) };
  const open = async (url: string, header: Buffer, from?: string) => {
    const port = await startRelay(t, url, header, from === undefined ? {} : { from });
    const opened = await openRawDevice({ ...device, url: through(url, port), tls });
    t.teardown(() => opened.socket.destroy());
    return opened;
  };
  /** Sends bytes to a listener; resolves to what it answers until it closes the connection. */
  const answerTo = (url: string, pieces: Buffer[], from = '127.0.0.1'): Promise<string> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port), localAddress: from, noDelay: true });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', () => undefined).on('close', () => resolve(text));
      for (const piece of pieces) socket.write(piece);
    });
  const refusals = async (): Promise<Record<string, number>> => {
    const text = (await world.anonymousAdmin().get('/metrics')).body as string;
    const found = text.matchAll(/lapel_proxy_connections_refused_total\{listener="(\w+)",reason="(\w+)"\} (\d+)/g);
    return Object.fromEntries(
      [...found].map(([, listener, reason, count]) => [`${listener} ${reason}`, Number(count)]),
    );
  };

  for (const [url, header, name] of [
    [mqtt, textHeader(CLIENT), 'MQTT, version 1'],
    [mqtt, binaryHeader({ rest: addressesOf(CLIENT) }), 'MQTT, version 2'],
    [mqtts, textHeader(CLIENT), 'MQTT over TLS, version 1'],
    [mqtts, binaryHeader({ rest: addressesOf(CLIENT) }), 'MQTT over TLS, version 2'],
    [mqttWs, binaryHeader({ rest: addressesOf(CLIENT) }), 'MQTT over WebSocket and TLS'],
  ] as const) {
    t.test(`${name}: the connection of a device has the address of the client`, async (t) => {
      const link = await open(url, header);
      t.equal((await link.login()).returnCode, 0);
      const { body } = await world.admin().get(`/admin/v1/devices/${device.deviceId}/connection`);
      t.match(body, { connected: true, address: CLIENT });
      t.same(await link.subscribe(`devices/${device.deviceId}/commands`), [1], 'it goes on as any connection');
      await link.drop();
      await until(() => !world.service.isConnected(device.deviceId));
    });
  }

  t.test('the header and the first packet may come together, or in any pieces', async (t) => {
    const bytes = Buffer.concat([binaryHeader({ rest: addressesOf(CLIENT) }), connectBytes(device, true)]);
    const CONNACK = '\x20\x02\x00\x00';
    for (const pieces of [[bytes], [...bytes].map((byte) => Buffer.from([byte]))]) {
      const { port } = new URL(mqtt);
      const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
      for (const piece of pieces) socket.write(piece);
      const [chunk] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data: Buffer) => resolve([data])));
      t.equal(chunk?.toString('latin1'), CONNACK, `in ${pieces.length} pieces`);
      socket.destroy();
      await until(() => !world.service.isConnected(device.deviceId));
    }
  });

  t.test('a health check of the proxy, or an unknown client, counts for the proxy', async (t) => {
    const local = await open(mqtt, binaryHeader({ command: 0x20, kind: 0 }));
    t.equal((await local.login()).returnCode, 0);
    const { body } = await world.admin().get(`/admin/v1/devices/${device.deviceId}/connection`);
    t.match(body, { connected: true, address: '127.0.0.1' });
    await local.drop();
    await until(() => !world.service.isConnected(device.deviceId));
  });

  t.test('a connection without a header, or of another address, is refused and costs nothing', async (t) => {
    const before = await refusals();
    t.equal(await answerTo(mqtt, [connectBytes(device)]), '', 'a CONNECT without a header');
    t.equal(await answerTo(mqtts, [Buffer.from('16030102', 'hex')]), '', 'a ClientHello without a header');
    t.equal(await answerTo(objects, [Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')]), '', 'a request without one');
    t.equal(await answerTo(mqtt, [textHeader(CLIENT), connectBytes(device)], '127.0.0.2'), '', 'a liar');
    t.match(lines.at(-1), { listener: 'mqtt', address: '127.0.0.2', reason: 'untrusted', msg: /LAPEL_TRUST_PROXY/ });
    const after = await refusals();
    for (const kind of ['mqtt header', 'mqtts header', 'objects header', 'mqtt untrusted']) {
      t.equal((after[kind] ?? 0) - (before[kind] ?? 0), 1, kind);
    }
  });

  t.test('a header that does not come in time is not waited for', async (t) => {
    const silent = answerTo(mqtt, [Buffer.from('PROXY TCP4 ')]);
    await until(() => world.clock.timers() > 0);
    await until(async () => {
      world.clock.advance(1_000);
      return ((await refusals())['mqtt timeout'] ?? 0) > 0;
    });
    t.equal(await silent, '');
  });

  t.test('the bound of connections without a login is that of the client', async (t) => {
    const waiting = await open(mqtt, textHeader('192.0.2.20'));
    const second = await open(mqtt, textHeader('192.0.2.20'));
    await second.closed;
    t.match(lines.at(-1), { reason: 'address', address: '192.0.2.20' });
    const other = await open(mqtt, textHeader('192.0.2.21'));
    t.equal((await other.login()).returnCode, 0, 'another client of the same proxy logs in');
    waiting.socket.destroy();
    await other.drop();
  });

  t.test('the object store reads the header before HTTP', async (t) => {
    const relayed = through(objects, await startRelay(t, objects, textHeader(CLIENT)));
    const { statusCode, body } = await request(`${relayed}/lapel/none`);
    t.match(await body.text(), /AccessDenied|SignatureDoesNotMatch|Code/);
    t.equal(statusCode, 403);
    const whole = [textHeader(CLIENT), Buffer.from('GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')];
    t.match(await answerTo(objects, [Buffer.concat(whole)]), /^HTTP\/1\.1 403 /, 'also when both come together');
  });

  t.test('a handshake after the header is as any other', async (t) => {
    const port = await startRelay(t, mqtts, textHeader(CLIENT));
    const socket = connectTls({ port, host: '127.0.0.1', ca: tls.ca });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    t.match(socket.getProtocol(), /^TLSv1\.[23]$/);
    socket.destroy();
  });

  t.test('the documents for makers of devices name the public URLs', async (t) => {
    const { body } = await world.anonymous().get('/asyncapi.json');
    t.match(body.servers, {
      mqtts: { host: 'mqtt.example:8883', protocol: 'mqtts' },
      wss: { host: 'mqtt.example', pathname: '/mqtt', protocol: 'wss' },
    });
    t.same(Object.keys(body.servers), ['mqtts', 'wss'], 'and no others');
    t.match((await world.anonymous().get('/docs/events')).body, /mqtt\.example:8883/);
  });
});
