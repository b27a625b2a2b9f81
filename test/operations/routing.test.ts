import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startHaproxy } from '@lapel/tools/harness/haproxy';
import mqttPacket from 'mqtt-packet';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { createAuthority } from '../broker/authority.ts';
import { missing } from '../installed.ts';
import { connectBytes } from '../raw-device.ts';
import { until } from '../until.ts';
import { missingProxy } from './proxy-files.ts';
import { callOf, callsOf, DEVICES, openSite, placesOf } from './routed-site.ts';
import { type StubNode, startNodes } from './stub-nodes.ts';

const skip = missingProxy('haproxy');
/** Checks are quick here. */
const QUICK = (config: string): string =>
  config.replace('timeout check 3s', 'timeout check 20s').replace('inter 1s fall 2', 'inter 100ms fall 1');
/** So is the end of the wait for a client that says nothing; a busy machine is too slow for it with a CONNECT in pieces. */
const IMPATIENT = (config: string): string => config.replace('inspect-delay 5s', 'inspect-delay 200ms');

interface Started {
  folder?: string;
  ca?: Buffer;
  change?(config: string): string;
  nodes?: number;
  ready?: number;
}

/** HAProxy with the example for clusters before nodes, and the ways to ask which node a device or a call gets. */
async function start(t: Test, options: Started = {}) {
  const { folder = t.testdir({}), ca, change = (text) => text, nodes: count = 3, ready = count } = options;
  const nodes = await startNodes(t, count, ready);
  const haproxy = await startHaproxy(
    folder,
    nodes.map(({ ports }) => ports),
    (config) => change(QUICK(config)),
  );
  t.teardown(() => haproxy[Symbol.asyncDispose]());
  return { nodes, haproxy, ...openSite(t, haproxy, ca) };
}

const ofTls = (pem: string) => (config: string) =>
  config
    .replaceAll(/^( +bind .*)$/gm, (line) => (line.includes('8081') ? line : `${line} ssl crt ${pem}`))
    .replaceAll(/(?<=backend mqtt\n(?:.*\n)*?)( +server .*)$/gm, '$1 send-proxy-v2');

t.test('a device and the calls about it get to the same node, and each node gets a share', { skip }, async (t) => {
  const site = await start(t);
  const places = await placesOf(site);
  t.same(await callsOf(site), places);
  for (const node of ['1', '2', '3'])
    t.ok(places.filter((place) => place === node).length > DEVICES.length / 5, `node ${node}`);
});

t.test(
  'a balancer with certificates leads both to the same node, and names the clients',
  {
    skip: skip || missing.openssl(),
  },
  async (t) => {
    const folder = t.testdir({ tls: {} });
    const authority = createAuthority(join(folder, 'tls'), 'site');
    const { certFile, keyFile } = authority.sign('server');
    const pem = join(folder, 'tls', 'both.pem');
    writeFileSync(pem, Buffer.concat([readFileSync(certFile), readFileSync(keyFile)]));
    const site = await start(t, { folder, ca: readFileSync(authority.ca), change: ofTls(pem) });
    t.same(await callsOf(site), await placesOf(site));
    const all = (of: (node: StubNode) => Set<string>) => [...new Set(site.nodes.flatMap((node) => [...of(node)]))];
    t.same(
      all(({ named }) => named),
      ['127.0.0.1'],
    );
    t.same(
      all(({ forwarded }) => forwarded),
      ['127.0.0.1'],
    );
  },
);

/** Headers by which a client pretends to be another one. */
const PRETENDED = {
  'x-forwarded-for': '192.0.2.9',
  'x-forwarded-host': 'other.example.com',
  'x-forwarded-proto': 'https',
  forwarded: 'for=192.0.2.9;host=other.example.com',
};

t.test('the nodes of administration and of the API hear of no pretended client', { skip }, async (t) => {
  const { nodes, haproxy } = await start(t, { nodes: 1 });
  for (const [path, port] of [
    ['/admin/v1/developers', haproxy.admin],
    ['/v1/applications/app', haproxy.http],
  ] as const) {
    await (await fetch(`http://127.0.0.1:${port}${path}`, { headers: PRETENDED })).text();
    const heard = nodes[0]!.heard.get(path) ?? {};
    t.equal(heard['x-forwarded-for']?.toString().split(', ').at(-1), '127.0.0.1', path);
    t.equal(heard['x-forwarded-proto'], 'http', path);
    t.notOk('x-forwarded-host' in heard || 'forwarded' in heard, path);
  }
  t.equal(nodes[0]!.heard.get('/admin/v1/developers')?.['x-forwarded-for'], '127.0.0.1');
});

t.test('the console hears of each change through the balancer at once', { skip }, async (t) => {
  const { nodes, haproxy } = await start(t, { nodes: 1 });
  const headers = { accept: 'text/event-stream' };
  const { body } = await request(`http://127.0.0.1:${haproxy.admin}/admin/v1/feed`, { headers });
  t.teardown(() => body.destroy());
  const told = body.setEncoding('utf8')[Symbol.asyncIterator]();
  for (const event of ['data: one\n\n', 'data: two\n\n']) {
    nodes[0]!.tell(event);
    t.equal((await told.next()).value, event);
  }
});

t.test('a device is known in each form of its call and of its CONNECT', { skip }, async (t) => {
  const { nodeOfCall, nodeOfDevice, nodeOfBytes } = await start(t);
  for (const deviceId of DEVICES.slice(0, 12)) {
    const node = await nodeOfDevice(deviceId);
    const escaped = `%${deviceId.charCodeAt(0).toString(16)}${deviceId.slice(1)}`;
    for (const path of [
      `/v1/applications/app/devices/${deviceId}`,
      `/v1/applications/app/devices/${deviceId}?expiry=60`,
      `/v1/applications/%E3%82%A2%2Fb/devices/${deviceId}/status`,
      `/v1/applications/app/devices/${escaped}/apps`,
      `/v1/devices/${deviceId}/hardware-properties`,
    ])
      t.equal(await nodeOfCall(path), node, path);
    const bytes = connectBytes({ deviceId, credential: 'secret' });
    t.equal(await nodeOfBytes(bytes.subarray(0, 5), bytes.subarray(5, 20), bytes.subarray(20)), node, 'in pieces');
    const version5 = mqttPacket.generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clientId: deviceId,
      clean: true,
      keepalive: 9,
    });
    t.equal(await nodeOfBytes(version5), node, 'MQTT 5');
  }
});

t.test('a call about no device, and a client without an identifier, get to any node', { skip }, async (t) => {
  const { nodeOfCall, nodeOfBytes } = await start(t, { change: IMPATIENT });
  for (const path of ['/v1/applications/app', '/v1/applications/app/devices/status', '/docs', '/v1/devices//x']) {
    const nodes = await Promise.all(Array.from({ length: 12 }, () => nodeOfCall(path)));
    t.same([...new Set(nodes)].sort(), ['1', '2', '3'], path);
  }
  t.match(await nodeOfBytes(Buffer.from('no CONNECT')), /^[123]$/);
  t.match(await nodeOfBytes(connectBytes({ deviceId: '', credential: 'secret' }, true)), /^[123]$/);
  const will = { topic: 'devices/x/events', payload: Buffer.alloc(60_000), qos: 1, retain: false } as const;
  const long = mqttPacket.generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clientId: DEVICES[0] ?? '',
    clean: true,
    keepalive: 0,
    will,
  });
  t.match(await nodeOfBytes(long), /^[123]$/, 'a CONNECT that is longer than the buffer');
});

t.test('when a node goes, only its devices move, and they come back with it', { skip }, async (t) => {
  const site = await start(t);
  const before = await placesOf(site);
  const isLost = (place: string | undefined): boolean => place === '2';
  const gone = DEVICES[before.findIndex(isLost)] ?? '';
  site.nodes[1]!.ready = false;
  await until(async () => !isLost(await site.nodeOfCall(callOf(gone))) && !isLost(await site.nodeOfDevice(gone)));
  const without = await placesOf(site);
  t.same(
    without.filter((_, index) => !isLost(before[index])),
    before.filter((place) => !isLost(place)),
  );
  t.equal(without.some(isLost), false);
  t.same(await callsOf(site), without);
  site.nodes[1]!.ready = true;
  await until(async () => isLost(await site.nodeOfCall(callOf(gone))) && isLost(await site.nodeOfDevice(gone)));
  t.same(await placesOf(site), before);
});

t.test('when a node comes, only its share of the devices moves', { skip }, async (t) => {
  const site = await start(t, { nodes: 4, ready: 3 });
  const isNew = (place: string | undefined): boolean => place === '4';
  await until(async () => !(await placesOf(site)).some(isNew) && !(await callsOf(site)).some(isNew));
  const before = await placesOf(site);
  site.nodes[3]!.ready = true;
  await until(async () => (await placesOf(site)).some(isNew) && (await callsOf(site)).some(isNew));
  const after = await placesOf(site);
  const moved = after.filter((place, index) => place !== before[index]);
  t.ok(moved.every(isNew));
  t.ok(moved.length > DEVICES.length / 8 && moved.length < DEVICES.length / 2.5, `${moved.length} have moved`);
  t.same(await callsOf(site), after);
});

t.test('a call that cannot reach its node goes to another one', { skip }, async (t) => {
  // The node is believed to be ready, and its ports are closed.
  const site = await start(t, { change: (config) => config.replaceAll(/(server node-2 127.0.0.1:)\d+/g, '$19') });
  const calls = await callsOf(site);
  t.same([...new Set(calls)].sort(), ['1', '3']);
  t.same([...new Set(await placesOf(site))].sort(), ['1', '3']);
});
