import { connect, type Socket } from 'node:net';
import mqttPacket, { type Packet } from 'mqtt-packet';
import t, { type Test } from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { deviceIdOf, startWorld, type World } from '../world.ts';
import { createNeighbour } from './neighbour.ts';

const bytesOf = (packet: Record<string, unknown>): Buffer => mqttPacket.generate(packet as unknown as Packet);

/** A plain connection to the MQTT listener, which ends with the test. */
function bare(t: Test, world: World): Socket {
  const { port } = new URL(world.service.addresses.mqtt);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  return socket;
}

/**
 * Writes the same bytes again and again, as fast as the connection takes them, until the returned function is called.
 */
function flood(sockets: Socket[], bytes: (socket: Socket) => Buffer): () => void {
  let stopped = false;
  for (const socket of sockets) {
    const block = bytes(socket);
    socket.resume();
    const on = (): void => {
      if (stopped || socket.destroyed) return;
      if (socket.write(block)) setImmediate(on);
      else socket.once('drain', on);
    };
    on();
  }
  return () => {
    stopped = true;
  };
}

t.test('devices that send endless packets delay no other tenant', async (t) => {
  const world = await startWorld(t);
  const neighbour = await createNeighbour(t, world);
  await world.createTenant('attacker');
  const links: { deviceId: string; link: RawDevice }[] = [];
  for (let count = 0; count < 10; count += 1) {
    const device = await world.registerDevice('attacker');
    links.push({ deviceId: device.deviceId, link: await world.connect({ ...device, clean: true }) });
  }
  const packets: Record<string, (deviceId: string) => Record<string, unknown>> = {
    'PINGREQ without end': () => ({ cmd: 'pingreq' }),
    'PUBREL without end': () => ({ cmd: 'pubrel', messageId: 9 }),
    'SUBSCRIBE without end': (deviceId) => ({
      cmd: 'subscribe',
      messageId: 9,
      subscriptions: [{ topic: `devices/${deviceId}/commands`, qos: 1 }],
    }),
    'acks without end': (deviceId) => ({
      cmd: 'publish',
      topic: `devices/${deviceId}/acks`,
      payload: '{"transactionId":1,"status":"succeeded"}',
      qos: 1,
      messageId: 9,
      dup: false,
      retain: false,
    }),
  };
  for (const [title, packet] of Object.entries(packets)) {
    const stop = flood(
      links.map(({ link }) => link.socket as Socket),
      (socket) => {
        const { deviceId = '' } = links.find(({ link }) => link.socket === socket) ?? {};
        const one = bytesOf(packet(deviceId));
        return Buffer.concat(Array.from({ length: Math.ceil(16_384 / one.length) }, () => one));
      },
    );
    await neighbour.works(title, 20);
    stop();
    t.ok(
      links.every(({ link }) => !link.socket.destroyed),
      'and none of them is closed for it',
    );
  }
});

t.test('silent connections and wrong logins delay no other tenant', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_MAX_CONNECTIONS: '100' } });
  const neighbour = await createNeighbour(t, world);
  let opened = 0;
  let runs = true;
  const open = (greet: (socket: Socket) => void): void => {
    if (!runs) return;
    opened += 1;
    const socket = bare(t, world);
    socket.once('connect', () => {
      greet(socket);
      setImmediate(open, greet);
    });
    socket.once('close', () => setImmediate(open, greet));
  };
  const wrong = bytesOf({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clientId: deviceIdOf(77),
    username: deviceIdOf(77),
    password: Buffer.from('guessed'),
    clean: true,
    keepalive: 0,
  });
  for (const [title, greet] of [
    ['connections that say nothing', () => undefined],
    ['wrong logins', (socket: Socket) => void socket.write(wrong)],
  ] as const) {
    runs = true;
    opened = 0;
    for (let count = 0; count < 4; count += 1) open(greet);
    await neighbour.works(title, 20);
    const another = await world.connect({ ...(await world.registerDevice('neighbour')) });
    await another.drop();
    runs = false;
    t.comment(`${opened} connections`);
  }
  t.ok(world.service.isConnected(neighbour.device.deviceId));
});

t.test(
  'however many devices send large messages, only few are handled between two calls of another tenant',
  async (t) => {
    const DEVICES = 60;
    const EACH = 4; // within the burst of each
    const world = await startWorld(t);
    const neighbour = await createNeighbour(t, world);
    await world.createTenant('attacker');
    const status = `{"lang":[${'0,'.repeat(120_000)}0]}`;
    const messages: [link: RawDevice, bytes: Buffer][] = [];
    for (let count = 0; count < DEVICES; count += 1) {
      const device = await world.registerDevice('attacker');
      const topic = `devices/${device.deviceId}/status`;
      const bytes = bytesOf({
        cmd: 'publish',
        topic,
        payload: status,
        qos: 1,
        messageId: 9,
        dup: false,
        retain: false,
      });
      messages.push([await world.connect({ ...device, clean: true }), bytes]);
    }
    const carriedOut = async (): Promise<number> => {
      const { values } = await world.service.metrics.mqttMessages.get();
      return values.find(({ labels }) => labels.topic === 'status')?.value ?? 0;
    };
    for (let count = 0; count < EACH; count += 1) for (const [link, bytes] of messages) link.socket.write(bytes);
    let most = 0;
    let calls = 0;
    for (let last = 0; last < DEVICES * EACH; calls += 1) {
      t.equal((await neighbour.tenant.api.get(neighbour.tenant.path)).status, 200);
      const now = await carriedOut();
      most = Math.max(most, now - last);
      last = now;
    }
    t.comment(`${calls} calls, ${most} messages at most between two of them`);
    t.ok(most < DEVICES, 'fewer than one of each device');
  },
);
