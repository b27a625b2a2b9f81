import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync, type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';
import t from 'tap';
import { DEBIAN_PYTHON, missing } from '../../installed.ts';
import { openRawDevice } from '../../raw-device.ts';
import { runProgram } from '../../run-program.ts';
import { WIFI } from '../../world.ts';
import { skip } from '../authority.ts';
import { startSecured } from '../secured-world.ts';
import { startFive } from './world.ts';

type Device = { deviceId: string; credential: string };

/** Logs a device in with MQTT.js; resolves to its client, whose commands come in their order from `command`. */
async function withMqttJs(url: string, { deviceId, credential }: Device, options: IClientOptions = {}) {
  const client: MqttClient = await connectAsync(url, {
    protocolVersion: 5,
    clientId: deviceId,
    username: deviceId,
    password: credential,
    clean: false,
    reconnectPeriod: 0,
    properties: { sessionExpiryInterval: 3600 },
    ...options,
  });
  const waiting: ((packet: IPublishPacket) => void)[] = [];
  const arrived: IPublishPacket[] = [];
  client.on('message', (_topic, _payload, packet) => {
    const waiter = waiting.shift();
    if (waiter) waiter(packet);
    else arrived.push(packet);
  });
  const next = async (): Promise<IPublishPacket> => arrived.shift() ?? new Promise((resolve) => waiting.push(resolve));
  return { client, next };
}

t.test('MQTT.js', async (t) => {
  const { world, tenant } = await startFive(t);
  const device = await world.registerDevice();
  const topicOf = (kind: string): string => `devices/${device.deviceId}/${kind}`;
  const { client, next } = await withMqttJs(world.service.addresses.mqtt, device);
  t.teardown(() => client.endAsync(true));
  const granted = await client.subscribeAsync(['commands', 'responses', 'errors'].map(topicOf), { qos: 1 });
  t.same(
    granted.map(({ qos }) => qos),
    [1, 1, 1],
  );
  const { body } = await tenant.api.post(`${tenant.path}/devices/${device.deviceId}`, { json: {} });
  const command = await next();
  t.equal(command.properties?.contentType, 'application/json');
  const { transactionId } = JSON.parse(command.payload.toString()) as { transactionId: number };
  t.equal(transactionId, body.transactionId);
  for (const qos of [1, 2] as const)
    await client.publishAsync(topicOf('acks'), JSON.stringify({ transactionId, status: 'succeeded' }), { qos });
  t.equal((await tenant.event()).type, 'transaction.succeeded');
  await t.rejects(client.publishAsync(topicOf('events'), 'no JSON', { qos: 1 }), /Payload format invalid/);

  await t.test('is told why it is cut off, and resumes its session', async (t) => {
    const told = new Promise((resolve) => client.once('disconnect', resolve));
    await world.admin().delete(`/admin/v1/devices/${device.deviceId}/connection`);
    t.match(await told, { reasonCode: 0x98 });
    const again = await withMqttJs(world.service.addresses.mqtt, device);
    t.teardown(() => again.client.endAsync(true));
    const { transactionId: wanted } = (
      await tenant.api.put(`${tenant.path}/devices/${device.deviceId}/settings/wifi`, { json: WIFI })
    ).body;
    t.match(JSON.parse((await again.next()).payload.toString()), { transactionId: wanted });
  });
});

t.test('mosquitto_pub and mosquitto_sub', { skip: missing.mosquittoClients() }, async (t) => {
  const { world, tenant } = await startFive(t);
  const device = await world.activatedDevice(tenant);
  const { transactionId } = (await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).body;
  await device.link.command();
  await device.link.drop();
  const { port } = new URL(world.service.addresses.mqtt);
  const login = ['-h', '127.0.0.1', '-p', port, '-V', '5', '-i', device.deviceId, '-u', device.deviceId];
  const good = [...login, '-P', device.credential, '-q', '1'];
  const topicOf = (kind: string): string => `devices/${device.deviceId}/${kind}`;

  const sub = await runProgram('mosquitto_sub', [...good, '-c', '-x', '60', '-t', topicOf('commands'), '-C', '1']);
  t.equal(sub.status, 0, sub.stderr);
  t.match(JSON.parse(sub.stdout), { transactionId, attempt: 2 });
  const done = JSON.stringify({ transactionId, status: 'succeeded' });
  const properties = ['-D', 'publish', 'user-property', 'a', 'b', '-D', 'publish', 'content-type', 'application/json'];
  const pub = await runProgram('mosquitto_pub', [...good, ...properties, '-t', topicOf('acks'), '-m', done]);
  t.equal(pub.status, 0, pub.stderr);
  t.match((await tenant.event()).data.transaction, { transactionId, status: 'succeeded' });
  const refused = await runProgram('mosquitto_pub', [...login, '-P', 'wrong', '-t', topicOf('status'), '-m', '{}']);
  t.match(refused.stderr, /Bad User Name or Password/i);
  const foreign = await runProgram('mosquitto_sub', [...good, '-t', 'devices/490154203237518/commands', '-W', '2']);
  t.match(foreign.stderr, /denied/);
});

t.test('paho-mqtt', { skip: missing.paho() }, async (t) => {
  const { world, tenant } = await startFive(t);
  const device = await world.registerDevice();
  const program = join(t.testdir({}), 'device.py');
  writeFileSync(
    program,
    `
import json, sys
import paho.mqtt.client as mqtt
from paho.mqtt.properties import Properties
from paho.mqtt.packettypes import PacketTypes

host, port, device, credential = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
said = {}

def on_connect(client, userdata, flags, reason, properties):
    said["connack"] = [reason.value, properties.ReceiveMaximum, properties.MaximumPacketSize]
    client.subscribe([(f"devices/{device}/{kind}", mqtt.SubscribeOptions(qos=1)) for kind in ("commands", "errors")])

def on_subscribe(client, userdata, mid, codes, properties):
    said["suback"] = [code.value for code in codes]
    print("ready", flush=True)

def on_message(client, userdata, message):
    command = json.loads(message.payload)
    said["command"] = [command["operation"], message.properties.ContentType]
    ack = json.dumps({"transactionId": command["transactionId"], "status": "succeeded"})
    said["mid"] = client.publish(f"devices/{device}/acks", ack, qos=2).mid

def on_publish(client, userdata, mid):
    client.disconnect()

def on_disconnect(client, userdata, reason, properties):
    print(json.dumps(said), flush=True)

client = mqtt.Client(client_id=device, protocol=mqtt.MQTTv5)
client.username_pw_set(device, credential)
client.on_connect, client.on_subscribe, client.on_message = on_connect, on_subscribe, on_message
client.on_publish, client.on_disconnect = on_publish, on_disconnect
properties = Properties(PacketTypes.CONNECT)
properties.SessionExpiryInterval = 60
client.connect(host, port, clean_start=True, properties=properties)
client.loop_forever()
`,
  );
  const { port } = new URL(world.service.addresses.mqtt);
  const runs = runProgram(DEBIAN_PYTHON, [program, '127.0.0.1', port, device.deviceId, device.credential]);
  await tenant.api.post(`${tenant.path}/devices/${device.deviceId}`, { json: {} });
  t.equal((await tenant.event()).type, 'transaction.succeeded');
  const { stdout, stderr } = await runs;
  t.match(
    JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}'),
    { connack: [0, 100, 262_144], suback: [1, 1], command: ['activate', 'application/json'] },
    stderr,
  );
});

t.test('the clients of Paho for C', { skip: missing.pahoC() }, async (t) => {
  for (const flavour of ['paho_c', 'paho_cs']) {
    const { world, tenant } = await startFive(t);
    const device = await world.activatedDevice(tenant);
    await device.link.drop();
    const { transactionId } = (await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).body;
    const { port } = new URL(world.service.addresses.mqtt);
    const login = ['-h', '127.0.0.1', '-p', port, '-V', '5', '-i', device.deviceId, '-u', device.deviceId];
    const good = [...login, '-P', device.credential, '-q', '1'];
    const topicOf = (kind: string): string => `devices/${device.deviceId}/${kind}`;
    const sub = spawn(`${flavour}_sub`, [...good, '-t', topicOf('commands')], { stdio: ['ignore', 'pipe', 'ignore'] });
    t.teardown(() => sub.kill('SIGKILL'));
    let told = '';
    while (!told.includes('setWifi')) told += String((await once(sub.stdout, 'data'))[0]);
    t.match(JSON.parse(told.trim()), { transactionId }, flavour);
    sub.kill('SIGKILL');
    await once(sub, 'exit');
    const ack = JSON.stringify({ transactionId, status: 'succeeded' });
    const pub = await runProgram(`${flavour}_pub`, [...good, '-t', topicOf('acks'), '-m', ack]);
    t.equal(pub.status, 0, pub.stderr);
    t.match((await tenant.event()).data.transaction, { transactionId, status: 'succeeded' });
  }
});

t.test('over TLS and WebSocket a device of MQTT 5 learns why it is cut off, too', { skip }, async (t) => {
  const { world, ca, mqtts, mqttWs } = await startSecured(t);
  await world.createTenant();
  for (const url of [mqtts, mqttWs]) {
    const device = await world.registerDevice();
    const open = () => openRawDevice({ url, ...device, level: 5, tls: { ca }, connect: { clean: true } });
    const link = await open();
    t.equal((await link.login()).reasonCode, 0);
    const newer = await open();
    t.teardown(() => newer.socket.destroy());
    t.equal((await newer.login()).reasonCode, 0);
    t.equal((await link.next('disconnect')).reasonCode, 0x8e, url);
    await link.closed;
  }
});
