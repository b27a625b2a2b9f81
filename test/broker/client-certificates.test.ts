import { readFileSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { openRawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld, transactionIdOf, WIFI } from '../world.ts';
import { skip } from './authority.ts';
import { startSecured } from './secured-world.ts';

async function start(t: Test) {
  const secured = await startSecured(t);
  const { ca, mqtts } = secured;
  /** Logs in with a certificate; resolves to the CONNACK code and the connection. */
  async function login(deviceId: string, shown: object, url = mqtts, credential?: string) {
    const options = { url, deviceId, connect: { username: deviceId }, tls: { ca, ...shown } };
    const link = await openRawDevice({ ...options, ...(credential !== undefined && { credential }) });
    t.teardown(() => link.socket.destroy());
    return { link, code: (await link.login()).returnCode };
  }
  return { ...secured, login };
}

t.test('a device that is blocked is cut off and refused with 5 until it is unblocked', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const own = `/admin/v1/devices/${device.deviceId}`;
  t.match((await world.admin().patch(own, { json: { blocked: true } })).body, { blocked: true });
  await device.link.closed;
  for (const clean of [true, false]) {
    const refused = await world.open({ ...device, clean });
    t.equal((await refused.login()).returnCode, 5);
    await refused.closed;
  }
  const guessed = await world.open({ ...device, credential: 'guessed' });
  t.equal((await guessed.login()).returnCode, 4, 'who does not know the credential is not told more');
  t.notOk(world.service.isConnected(device.deviceId));
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  t.match((await world.admin().get(own)).body, { blocked: true });
  t.match((await world.admin().patch(own, { json: {} })).body, { blocked: true }, 'another change leaves it blocked');
  await world.restart();
  await tenant.renew();
  t.equal((await (await world.open(device)).login()).returnCode, 5);
  t.match((await world.admin().patch(own, { json: { blocked: false } })).body, { blocked: false });
  const back = await world.connect(device);
  t.equal((await back.command()).transactionId, transactionId, 'what it was to do has waited');
});

t.test('a device that is blocked while it logs in is not let in', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const own = `/admin/v1/devices/${device.deviceId}`;
  for (let round = 0; round < 20; round += 1) {
    const link = await world.open(device);
    const answer = link.login().catch(() => undefined);
    for (let turns = 0; turns < round; turns += 1) await turn();
    await world.admin().patch(own, { json: { blocked: true } });
    await Promise.all([answer, link.closed]);
    await world.idle();
    t.notOk(world.service.isConnected(device.deviceId));
    await world.admin().patch(own, { json: { blocked: false } });
  }
});

t.test('client certificates', { skip }, async (t) => {
  const { world, authority, server, crl, ca, mqtts, mqttWs, login } = await start(t);
  await world.createTenant();

  t.test('a new credential stops all certificates of the device but the one that is named', async (t) => {
    const device = await world.registerDevice();
    const own = `/admin/v1/devices/${device.deviceId}`;
    const [stolen, fresh] = [authority.sign(device.deviceId, 'stolen'), authority.sign(device.deviceId, 'fresh')];
    t.match((await world.admin().get(own)).body, { certificates: 'any', clientCa: true, certificateFingerprint: null });
    t.equal((await login(device.deviceId, stolen, mqtts, '')).code, 0, 'with an empty password as well');
    t.equal((await login(device.deviceId, stolen, mqtts, 'guessed')).code, 4);
    const { link, code } = await login(device.deviceId, stolen);
    t.equal(code, 0);
    const { body } = await world.admin().post(`${own}/credential`, { json: {} });
    await link.closed;
    t.match((await world.admin().get(own)).body, { certificates: 'none', certificateFingerprint: null });
    for (const url of [mqtts, mqttWs]) {
      t.equal((await login(device.deviceId, stolen, url)).code, 4);
      t.equal((await login(device.deviceId, fresh, url)).code, 4);
      t.equal((await login(device.deviceId, stolen, url, body.credential)).code, 0, 'a password is judged by itself');
    }
    const json = { certificateFingerprint: fresh.fingerprint };
    await world.admin().post(`${own}/credential`, { json });
    t.match((await world.admin().get(own)).body, { certificates: 'named', ...json });
    t.equal((await login(device.deviceId, stolen)).code, 4);
    t.equal((await login(device.deviceId, fresh)).code, 0);
    const wrong = await world.admin().post(`${own}/credential`, { json: { certificateFingerprint: 'AB:CD' } });
    t.match(wrong, { status: 400, body: { details: [{ loc: ['body', 'certificateFingerprint'] }] } });
  });

  t.test('a blocked device is refused with its certificate too', async (t) => {
    const device = await world.registerDevice();
    await world.admin().patch(`/admin/v1/devices/${device.deviceId}`, { json: { blocked: true } });
    t.equal((await login(device.deviceId, authority.sign(device.deviceId))).code, 5);
  });

  t.test('a certificate that is revoked is cut off when the files are read again, and no other', async (t) => {
    const [one, other] = [await world.registerDevice(), await world.registerDevice()];
    const [lost, kept] = [authority.sign(one.deviceId), authority.sign(other.deviceId)];
    const links = [
      await login(one.deviceId, lost),
      await login(other.deviceId, kept),
      await login(deviceIdOf(99), kept),
    ] as const;
    t.same(
      links.map(({ code }) => code),
      [0, 0, 4],
    );
    // A resumed TLS session shows no certificate, so it must not outlive the state that the certificate was checked
    // against.
    const socket = connectTls({ host: '127.0.0.1', port: Number(new URL(mqtts).port), ca, ...lost });
    const session = await new Promise<Buffer>((resolve) => socket.once('session', resolve));
    socket.destroy();

    authority.revoke(lost.serialNumber);
    t.equal((await login(one.deviceId, lost)).code, 0, 'it is not noticed at once');
    t.equal(world.service.reloadTls(), true);
    await until(() => !world.service.isConnected(one.deviceId));
    for (const url of [mqtts, mqttWs]) {
      t.equal((await login(one.deviceId, lost, url)).code, 4);
      t.equal((await login(one.deviceId, { ...lost, session }, url)).code, 4);
      t.equal((await login(one.deviceId, lost, url, one.credential)).code, 0);
    }
    t.ok(world.service.isConnected(other.deviceId), 'the other stays');
    t.notOk(links[1].link.socket.destroyed);

    authority.revoke(lost.serialNumber, kept.serialNumber);
    world.clock.advance(10_000);
    await until(() => !world.service.isConnected(other.deviceId));
    t.equal((await login(other.deviceId, kept)).code, 4, 'a changed list is read without a signal, too');
  });

  t.test('unusable TLS files change nothing', async (t) => {
    const device = await world.registerDevice();
    const certificate = authority.sign(device.deviceId);
    for (const [file, setting] of [
      [server.certFile, 'LAPEL_TLS_CERT'],
      [server.keyFile, 'LAPEL_TLS_KEY'],
      [authority.ca, 'LAPEL_MQTT_CLIENT_CA'],
      [crl, 'LAPEL_MQTT_CLIENT_CRL'],
    ] as const) {
      const before = readFileSync(file);
      for (const content of ['', 'no PEM', before.subarray(0, before.length / 2)]) {
        writeFileSync(file, content);
        t.throws(() => world.service.reloadTls(), { message: new RegExp(`^${setting}: cannot use`) });
        t.equal((await login(device.deviceId, certificate)).code, 0);
      }
      writeFileSync(file, before);
    }
  });

  t.test('new connections are shown the new certificate of the service', async (t) => {
    const serialOf = (): Promise<string> =>
      new Promise((resolve) => {
        const socket = connectTls({ host: '127.0.0.1', port: Number(new URL(mqtts).port), ca }, () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        });
      });
    t.equal(await serialOf(), server.serialNumber);
    const renewed = authority.sign('server', 'renewed');
    writeFileSync(server.certFile, renewed.cert);
    writeFileSync(server.keyFile, renewed.key);
    world.service.reloadTls();
    t.equal(await serialOf(), renewed.serialNumber);
  });

  t.test('a handshake that stops is cut off after thirty seconds', async (t) => {
    const sockets = [mqtts, mqttWs].map((url) => connectTcp(Number(new URL(url).port), '127.0.0.1'));
    const ended = sockets.map((socket) => new Promise((resolve) => socket.on('error', resolve).on('close', resolve)));
    for (const socket of sockets) socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1]));
    const open = async () => (await world.anonymousAdmin().get('/metrics')).body as string;
    await until(async () => /^lapel_mqtt_connections_waiting 2$/m.test(await open()));
    let isOver = false;
    const all = Promise.all(ended).then(() => {
      isOver = true;
    });
    world.clock.advance(20_000);
    await turn();
    t.notOk(isOver, 'a slow line has its time');
    // It begins with the turn that a handshake waits for.
    while (!isOver) {
      world.clock.advance(10_000);
      await turn();
    }
    await all;
  });
});
