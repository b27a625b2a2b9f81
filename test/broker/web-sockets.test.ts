import { once } from 'node:events';
import mqttPacket, { type Packet } from 'mqtt-packet';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { connectBytes } from '../raw-device.ts';
import { startWorld, type World } from '../world.ts';

interface Device {
  deviceId: string;
  credential: string;
}

const bytesOf = (packet: Record<string, unknown>): Buffer => mqttPacket.generate(packet as unknown as Packet);

/** Logs a device in, subscribes to its commands, and collects its messages. */
async function open(t: Test, world: World, device: Device) {
  const webSocket = new WebSocket(world.service.addresses.mqttWs ?? '', 'mqtt');
  t.teardown(() => webSocket.terminate());
  const messages: Buffer[] = [];
  let told: (() => void) | undefined;
  webSocket.on('message', (data: Buffer) => {
    messages.push(data);
    told?.();
  });
  const closed = new Promise((resolve) => webSocket.once('close', resolve));
  await once(webSocket, 'open');
  const next = async (): Promise<Buffer> => {
    while (messages.length === 0) await new Promise<void>((resolve) => (told = resolve));
    return messages.shift() as Buffer;
  };
  webSocket.send(connectBytes(device, true));
  t.equal((await next()).toString('hex'), '20020000');
  const topic = `devices/${device.deviceId}/commands`;
  webSocket.send(bytesOf({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 1 }] }));
  t.equal((await next()).toString('hex'), '9003000101');
  return { webSocket, closed, next };
}

t.test('MQTT over WebSocket', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_WS_PORT: '0' } });
  const tenant = await world.createTenant();
  const device = await world.registerDevice();

  t.test('a command is one message', async (t) => {
    const { next } = await open(t, world, device);
    const { body } = await world.admin().get(`/admin/v1/devices/${device.deviceId}/connection`);
    t.match(body, { connected: true, transport: 'ws', session: { present: false, subscriptions: { length: 1 } } });
    const path = `${tenant.path}/devices/${device.deviceId}`;
    await tenant.api.post(path, { json: {} });
    const parsed: Packet[] = [];
    const parser = mqttPacket.parser().on('packet', (packet) => parsed.push(packet));
    parser.parse(await next());
    t.match(parsed, [{ cmd: 'publish', topic: `devices/${device.deviceId}/commands` }]);
  });

  t.test('a message of up to 4 MiB is acknowledged and told, as over TCP', async (t) => {
    const { webSocket, closed, next } = await open(t, world, device);
    const topic = `devices/${device.deviceId}/events`;
    for (const [index, size] of [300 * 1024, 1024 * 1024, 4 * 1024 * 1024 - 200].entries()) {
      const payload = `{"eventId":"e-${index}","type":"custom.a","data":{"text":"${'x'.repeat(size)}"}}`;
      webSocket.send(bytesOf({ cmd: 'publish', topic, payload, qos: 1, messageId: 10 + index }));
      const received: Packet[] = [];
      const parser = mqttPacket.parser().on('packet', (packet) => received.push(packet));
      while (!received.some(({ cmd }) => cmd === 'puback')) parser.parse(await next());
      t.match(received.at(-1), { cmd: 'puback', messageId: 10 + index });
    }
    webSocket.send(Buffer.alloc(5 * 1024 * 1024));
    await closed;
  });

  t.test('a text message ends the connection, before the login and after it', async (t) => {
    const { webSocket, closed } = await open(t, world, device);
    webSocket.send('\u00c0\u0000', { binary: false });
    await closed;
    const early = new WebSocket(world.service.addresses.mqttWs ?? '', 'mqtt');
    const ended = once(early, 'close');
    await once(early, 'open');
    early.send(connectBytes(device, true), { binary: false });
    await ended;
    t.notOk(world.service.isConnected(device.deviceId));
  });

  t.test('a WebSocket message may hold many packets, more bytes than one packet may have', async (t) => {
    const other = await world.registerDevice();
    const { webSocket, next } = await open(t, world, other);
    const publish = (messageId: number): Buffer =>
      bytesOf({
        cmd: 'publish',
        topic: `devices/${other.deviceId}/status`,
        payload: JSON.stringify({ lang: 'en', padding: 'x'.repeat(90_000) }),
        qos: 1,
        messageId,
        dup: false,
        retain: false,
      });
    webSocket.send(Buffer.concat(Array.from({ length: 8 }, (_, index) => publish(index + 1))));
    let came = '';
    while (came.length < 8 * 8) came += (await next()).toString('hex');
    t.equal(came, Array.from({ length: 8 }, (_, index) => `4002000${index + 1}`).join(''));
  });

  t.test('before its login a connection may send 64 KiB', async (t) => {
    const webSocket = new WebSocket(world.service.addresses.mqttWs ?? '', 'mqtt');
    const ended = once(webSocket, 'close');
    await once(webSocket, 'open');
    webSocket.on('error', () => undefined);
    webSocket.send(
      Buffer.concat([connectBytes({ ...device, credential: 'x' }, true).subarray(0, 20), Buffer.alloc(70_000)]),
      {
        fin: false,
      },
    );
    await ended;
    t.pass();
  });

  t.test(
    'a developer whose devices begin too many messages loses one of those connections, and no other does',
    async (t) => {
      await world.createTenant('small');
      const small = await open(t, world, await world.registerDevice('small'));
      const part = bytesOf({
        cmd: 'publish',
        topic: 'devices/x/status',
        payload: JSON.stringify({ padding: 'x'.repeat(4 * 1024 * 1024 - 200) }),
        qos: 1,
        messageId: 1,
      });
      small.webSocket.send(part.subarray(0, 4_000_000), { fin: false });
      const large: Awaited<ReturnType<typeof open>>[] = [];
      while (large.length < 32) large.push(await open(t, world, await world.registerDevice()));
      const cut = Promise.race(large.map(({ closed }, index) => closed.then(() => index)));
      for (const { webSocket } of large) {
        webSocket.on('error', () => undefined);
        webSocket.send(part, { fin: false });
      }
      const index = await cut;
      t.match(large[index]?.webSocket.readyState, WebSocket.CLOSED);
      t.equal(small.webSocket.readyState, WebSocket.OPEN, 'the other developer has one');
      const others = large.filter((_, at) => at !== index);
      t.ok(others.every(({ webSocket }) => webSocket.readyState === WebSocket.OPEN));
      const refused = (await world.service.metrics.mqttRefused.get()).values;
      t.equal(refused.find(({ labels }) => labels['reason'] === 'incomplete_messages')?.value, 1);
    },
  );

  t.test('a connection that sends ever more without the end of a message is closed', async (t) => {
    const { webSocket, closed } = await open(t, world, await world.registerDevice());
    webSocket.on('error', () => undefined);
    webSocket.send(Buffer.alloc(1), { fin: false });
    for (let count = 0; count < 40_000 && webSocket.readyState === WebSocket.OPEN; count += 1)
      await new Promise((sent) => webSocket.ping(Buffer.alloc(120), true, sent));
    await closed;
    t.pass();
  });
});
