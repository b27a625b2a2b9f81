import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@lapel/tools/harness/free-port';
import mqttPacket from 'mqtt-packet';
import t, { type Test } from 'tap';
import { createAuthority } from '../broker/authority.ts';
import { missing } from '../installed.ts';
import { connectBytes } from '../raw-device.ts';
import { until } from '../until.ts';
import { exampleOf, missingProxy, PROXIES, PROXY_ENV } from './proxy-files.ts';
import { callOf, callsOf, DEVICES, openSite, placesOf } from './routed-site.ts';
import { type StubNode, startNodes } from './stub-nodes.ts';

const FILE = 'nginx-cluster.conf';
const NJS = '/usr/lib/nginx/modules/ngx_stream_js_module.so';
const skip =
  missing.openssl() ||
  missingProxy('nginx') ||
  (!existsSync(NJS) && 'njs is not installed (Debian: libnginx-mod-stream-js)');
const KINDS = { 8080: 'http', 8081: 'admin', 1883: 'mqtt' } as const;

/** nginx with the example for clusters before three nodes. */
async function start(t: Test) {
  const nodes = await startNodes(t, 3);
  const folder = mkdtempSync(join(tmpdir(), 'lapel-nginx-')); // the path of a socket is short
  t.teardown(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755); // nginx leaves its rights before it connects to its sockets
  const authority = createAuthority(folder, 'site');
  const { certFile: cert, keyFile: key } = authority.sign('server');
  const [http, mqtt] = [await freePort(), await freePort()];
  const text = exampleOf('nginx', { folder, cert, key, ports: { 443: http, 8883: mqtt } }, FILE)
    .replaceAll(/(?<=fail_timeout=|keepalive_time )\d+s/g, '1s')
    .replaceAll(
      /node-(\d):(\d+)/g,
      (_, number: string, port: string) =>
        `127.0.0.1:${nodes[Number(number) - 1]?.ports[KINDS[Number(port) as keyof typeof KINDS]]}`,
    );
  const config = join(folder, FILE);
  writeFileSync(config, text);
  const [program = '', ...args] = PROXIES.nginx.run(config);
  const child = spawn(program, args, { env: PROXY_ENV, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said += part));
  const closed = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await closed;
  });
  const site = openSite(t, { http, mqtt }, readFileSync(authority.ca));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(said);
    return site.nodeOfCall('/').then(
      () => true,
      () => false,
    );
  });
  return { ...site, nodes };
}

t.test('nginx leads a device and the calls about it to the same node, and names the clients', { skip }, async (t) => {
  const site = await start(t);
  const places = await placesOf(site);
  t.same(await callsOf(site), places);
  for (const node of ['1', '2', '3'])
    t.ok(places.filter((place) => place === node).length > DEVICES.length / 5, `node ${node}`);
  const all = (of: (node: StubNode) => Set<string>) => [...new Set(site.nodes.flatMap((node) => [...of(node)]))];
  t.same(
    all(({ named }) => named),
    ['127.0.0.1'],
  );
  t.same(
    all(({ forwarded }) => forwarded),
    ['127.0.0.1'],
  );
});

t.test('nginx knows a device in each form of its call and of its CONNECT', { skip }, async (t) => {
  const { nodeOfCall, nodeOfDevice, nodeOfBytes } = await start(t);
  for (const deviceId of DEVICES.slice(0, 12)) {
    const node = await nodeOfDevice(deviceId);
    const escaped = `%${deviceId.charCodeAt(0).toString(16)}${deviceId.slice(1)}`;
    for (const path of [
      `/v1/applications/app/devices/${deviceId}`,
      `/v1/applications/app/devices/${deviceId}?expiry=60`,
      `/v1/applications/%E3%82%A2/devices/${deviceId}/status`,
      `/v1/applications/app/devices/${escaped}/apps`,
      `/v1/devices/${deviceId}/hardware-properties`,
    ])
      t.equal(await nodeOfCall(path), node, path);
    const bytes = connectBytes({ deviceId, credential: 'secret' });
    t.equal(await nodeOfBytes(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), node, 'byte by byte');
    const will = { topic: 'a', payload: Buffer.alloc(60_000), qos: 1, retain: false } as const;
    const connect = { cmd: 'connect', protocolId: 'MQTT', clientId: deviceId, clean: true, keepalive: 9 } as const;
    const long = mqttPacket.generate({ ...connect, protocolVersion: 4, will });
    t.equal(await nodeOfBytes(long), node, 'a long CONNECT');
    for (const properties of [{}, { sessionExpiryInterval: 9, userProperties: { a: 'x'.repeat(200) } }])
      t.equal(await nodeOfBytes(mqttPacket.generate({ ...connect, protocolVersion: 5, properties })), node, 'MQTT 5');
  }
});

t.test('nginx passes on a call about no device, and a client without an identifier', { skip }, async (t) => {
  const { nodeOfCall, nodeOfBytes } = await start(t);
  for (const path of ['/v1/applications/app', '/v1/applications/app/devices/status', '/docs']) {
    const nodes = await Promise.all(Array.from({ length: 12 }, () => nodeOfCall(path)));
    t.ok(new Set(nodes).size > 1, path);
  }
  t.match(await nodeOfBytes(Buffer.from('no CONNECT')), /^[123]$/);
  t.match(await nodeOfBytes(Buffer.from('10ffffffffff', 'hex')), /^[123]$/);
  t.match(await nodeOfBytes(connectBytes({ deviceId: '', credential: 'secret' }, true)), /^[123]$/);
});

t.test('when a node is gone, nginx leads its devices, and no others, to other nodes', { skip }, async (t) => {
  const site = await start(t);
  const before = await placesOf(site);
  const isLost = (place: string | undefined): boolean => place === '2';
  await site.nodes[1]!.setOpen(false);
  const [places, calls] = [await placesOf(site), await callsOf(site)];
  for (const after of [places, calls]) {
    t.same(
      after.filter((_, index) => !isLost(before[index])),
      before.filter((place) => !isLost(place)),
    );
    t.ok(after.every((place) => place === '1' || place === '3'));
  }
  await site.nodes[1]!.setOpen(true);
  const back = DEVICES[before.findIndex(isLost)] ?? '';
  await until(async () => isLost(await site.nodeOfCall(callOf(back))) && isLost(await site.nodeOfDevice(back)));
  await until(async () => JSON.stringify(await placesOf(site)) === JSON.stringify(before));
});
