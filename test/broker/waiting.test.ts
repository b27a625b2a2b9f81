import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld, type World } from '../world.ts';

/** The value of a metric with its labels; 0 if there is none. */
async function metric(world: World, name: string): Promise<number> {
  const text = (await world.anonymousAdmin().get('/metrics')).body as string;
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}
const refused = (world: World, reason: string): Promise<number> =>
  metric(world, `lapel_mqtt_refused_total{reason="${reason}"}`);

/** A connection that sends nothing; `localAddress` is its address. */
async function silent(t: Test, world: World, localAddress = '127.0.0.1'): Promise<Socket & { ended: Promise<void> }> {
  const { port } = new URL(world.service.addresses.mqtt);
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', resolve);
  });
  return Object.assign(socket, { ended });
}

/** Resolves when the service has so many connections without login. */
async function waiting(world: World, count: number): Promise<void> {
  await until(async () => (await metric(world, 'lapel_mqtt_connections_waiting')) === count);
}

/** Collects the log lines at `info` and above, as objects. */
function logLines() {
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write(line: string) {
      lines.push(JSON.parse(line) as Record<string, unknown>);
    },
  };
  const log = createLog({ level: 'info', destination: destination as unknown as NodeJS.WritableStream });
  return { log, lines };
}

t.test('silent connections take at most half of the places, and the oldest of them is closed first', async (t) => {
  const { log, lines } = logLines();
  const world = await startWorld(t, { log, env: { LAPEL_MQTT_MAX_CONNECTIONS: '20' } });
  await world.createTenant();
  const devices = [];
  for (let count = 0; count < 10; count += 1) devices.push(await world.registerDevice());
  const idle = [];
  for (let count = 0; count < 10; count += 1) {
    idle.push(await silent(t, world));
    await waiting(world, count + 1);
  }
  for (let count = 0; count < 30; count += 1) await silent(t, world);
  await Promise.all(idle.map(({ ended }) => ended));
  await waiting(world, 10);
  t.equal(await refused(world, 'waiting'), 30);
  for (const device of devices) await world.connect(device);
  t.equal(await metric(world, 'lapel_devices_connected'), 10, 'all devices are let in meanwhile');
  t.same(
    lines.filter(({ reason }) => reason === 'waiting').map(({ level, leftOut }) => [level, leftOut]),
    [[40, 0]],
    'one line says so',
  );
});

t.test('when devices take all places a further one is refused; a silent connection is closed for it', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_MAX_CONNECTIONS: '3' } });
  await world.createTenant();
  const [a, b, c] = [await world.registerDevice(), await world.registerDevice(), await world.registerDevice()];
  await world.connect(a);
  await world.connect(b);
  const idle = await silent(t, world);
  await waiting(world, 1);
  await world.connect(c);
  await idle.ended;
  await (await silent(t, world)).ended;
  t.equal(await refused(world, 'connections'), 1);
});

t.test(
  'one address has fewer waiting connections; a very new one may finish its login',
  { skip: process.platform !== 'linux' && 'only Linux has every address of loopback' },
  async (t) => {
    const world = await startWorld(t, { env: { LAPEL_MQTT_ADDRESS_LOGINS: '3' } });
    await world.createTenant();
    const device = await world.registerDevice();
    const attacker = '127.0.0.66';
    const first = [];
    for (let count = 0; count < 3; count += 1) {
      first.push(await silent(t, world, attacker));
      await waiting(world, count + 1);
    }
    await (await silent(t, world, attacker)).ended;
    t.equal(await refused(world, 'address'), 1, 'the fourth is refused');
    world.clock.advance(1000);
    await silent(t, world, attacker);
    await first[0]?.ended;
    t.equal(await refused(world, 'address'), 2, 'after a second the oldest goes for the new one');
    t.notOk(first[1]?.destroyed);
    await world.connect(device);
  },
);

t.test('a connection has ten seconds for its CONNECT, whatever it sends before', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_WS_PORT: '0' } });
  await world.createTenant();
  const device = await world.registerDevice();
  const nothing = await silent(t, world);
  const half = await silent(t, world);
  half.write(Buffer.from([0x10, 0x20, 0, 4]));
  const page = connect(Number(new URL(world.service.addresses.mqttWs ?? '').port), '127.0.0.1');
  t.teardown(() => page.destroy());
  page.on('error', () => undefined);
  const pageEnded = new Promise((resolve) => page.once('close', resolve));
  page.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n');
  const link = await world.open({ ...device, url: world.service.addresses.mqttWs } as Parameters<World['open']>[0]);
  link.socket.write(Buffer.from([0x10])); // an open WebSocket
  await waiting(world, 4);
  world.clock.advance(9999);
  await world.connect(device);
  t.notOk(nothing.destroyed || half.destroyed || page.destroyed || link.socket.destroyed);
  world.clock.advance(1);
  await Promise.all([nothing.ended, half.ended, pageEnded, link.closed]);
  t.equal(await refused(world, 'login_time'), 4);
  world.clock.advance(60_000);
  t.ok(world.service.isConnected(device.deviceId), 'who is logged in stays');
});

t.test('delayed logins take no more places than other waiting connections', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_MAX_CONNECTIONS: '12' } });
  await world.createTenant();
  const device = await world.registerDevice();
  const guess = { deviceId: device.deviceId, credential: 'guessed' };
  for (let count = 0; count < 20; count += 1) await (await world.open(guess)).login();
  for (let count = 0; count < 30; count += 1) void (await world.open(guess)).login().catch(() => undefined);
  await until(async () => (await metric(world, 'lapel_mqtt_logins_held_total')) >= 30);
  t.equal(await metric(world, 'lapel_mqtt_connections'), 6);
  await world.connect(device);
});

t.test('wrong logins are delayed and logged once a minute; a right one is accepted at once', async (t) => {
  const { log, lines } = logLines();
  const world = await startWorld(t, { log });
  await world.createTenant();
  const device = await world.registerDevice();
  const guess = { deviceId: device.deviceId, credential: 'guessed' };
  for (let count = 0; count < 20; count += 1) {
    const link = await world.open(guess);
    t.equal((await link.login()).returnCode, 4);
    await link.closed;
  }
  const held = await Promise.all(Array.from({ length: 40 }, () => world.open(guess)));
  const answers = held.map((link) => link.login());
  await until(async () => (await metric(world, 'lapel_mqtt_logins_held_total')) >= 40);
  t.equal(held.flatMap((link) => link.pending('connack')).length, 0, 'none of them has an answer');
  await world.connect(device);
  world.clock.advance(2000);
  t.same(new Set((await Promise.all(answers)).map(({ returnCode }) => returnCode)), new Set([4]));
  t.equal(await refused(world, 'credentials'), 60);
  t.ok(world.service.isConnected(device.deviceId), 'the device stays');
  const told = () => lines.filter(({ msg }) => msg === 'login refused');
  t.match(told(), [{ address: '127.0.0.1', deviceId: device.deviceId, reason: 'credentials', leftOut: 0 }]);
  world.clock.advance(60_000);
  await (await world.open({ ...guess, deviceId: deviceIdOf(77) })).login();
  t.match(told(), [{}, { deviceId: deviceIdOf(77), leftOut: 59 }]);
});
