import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { until } from '../until.ts';
import { startWorld, type Tenant, type World } from '../world.ts';
import { createNeighbour } from './neighbour.ts';

const VERSION = { package: 'com.example.camera', version: '1.0.0' };

/** An upload URL of op 23. */
async function uploadUrl(tenant: Tenant, version: { package: string; version: string }, fileSize: number) {
  const answer = await tenant.api.post(`${tenant.path}/apps`, { json: { ...version, fileSize } });
  return String(answer.body.urlList[0].uploadUrl);
}

/** A request on a separate socket, whose answer is never read. */
function begin(t: Test, url: string, method: string, headers: Record<string, string> = {}): Socket {
  const { hostname, port, host, pathname, search } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${lines.join('')}\r\n`);
  return socket;
}

const refusals = async (world: World, bound: string): Promise<number> => {
  const { values } = await world.service.metrics.objectsRefused.get();
  return values.find(({ labels }) => labels.bound === bound)?.value ?? 0;
};
/** The whole software path of a tenant: it uploads, reads, distributes and installs, and its device downloads. */
async function distributes(t: Test, { tenant, device }: Awaited<ReturnType<typeof createNeighbour>>, name: string) {
  const version = { package: name, version: '2.0.0' };
  const put = await fetch(await uploadUrl(tenant, version, 4), { method: 'PUT', body: 'file' });
  t.equal(put.status, 200, 'it uploads');
  const path = `${tenant.path}/packages/${name}/versions/2.0.0`;
  t.match(await tenant.api.get(`${path}/binaries`), { status: 200, body: { appFileExists: true } }, 'op 20');
  t.equal((await tenant.api.post(`${path}/distributions`)).status, 201);
  t.equal((await tenant.api.put(`${device.path}/apps`, { json: version })).status, 201, 'op 28');
  const command = await device.link.command();
  device.link.puback(command.packet);
  t.equal(await (await fetch(String(command.parameters['url']))).text(), 'file', 'its device downloads');
  await device.link.ack({ transactionId: command.transactionId, status: 'succeeded' });
  t.equal((await tenant.event()).type, 'transaction.succeeded');
}

void t.test('one tenant’s slow uploads and unread downloads do not keep others from their objects', async (t) => {
  const world = await startWorld(t);
  const attacker = await world.createTenant('attacker');
  const neighbour = await createNeighbour(t, world);

  // 20 uploads to one URL: each PUT announces a body and does not send it.
  const url = await uploadUrl(attacker, VERSION, 1_000_000);
  for (let index = 0; index < 20; index += 1) begin(t, url, 'PUT', { 'Content-Length': '1000000' }).write('x');
  await until(async () => (await refusals(world, 'uploads_key')) >= 18);
  await distributes(t, neighbour, 'com.example.one');

  // 70 such uploads, each with a URL of its own.
  for (let index = 0; index < 70; index += 1) {
    const other = await uploadUrl(attacker, { ...VERSION, version: `1.${index}.0` }, 1_000_000);
    begin(t, other, 'PUT', { 'Content-Length': '1000000' }).write('x');
  }
  await until(async () => (await refusals(world, 'uploads')) > 0);
  await distributes(t, neighbour, 'com.example.two');
  t.ok((await refusals(world, 'uploads_share')) > 0, 'a place was made for it');

  // 300 downloads of a large file begin; their clients do not read the answers.
  const size = 24 * 1024 * 1024;
  const large = { package: 'com.example.large', version: '1.0.0' };
  const body = new Uint8Array(size);
  t.equal((await fetch(await uploadUrl(attacker, large, size), { method: 'PUT', body })).status, 200);
  const device = await world.activatedDevice(attacker);
  await attacker.api.post(`${attacker.path}/packages/${large.package}/versions/${large.version}/distributions`);
  t.equal((await attacker.api.put(`${device.path}/apps`, { json: large })).status, 201);
  const download = String((await device.link.command()).parameters['url']);
  for (let index = 0; index < 300; index += 1) begin(t, download, 'GET').pause();
  await until(async () => (await refusals(world, 'downloads')) > 0);
  await distributes(t, neighbour, 'com.example.three');
  t.ok((await refusals(world, 'downloads_share')) > 0, 'a place was made for it');
  await neighbour.works('downloads that nobody reads');
});

void t.test('a thousand downloads requested at once over one connection are refused', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant('attacker');
  const socket = begin(t, await uploadUrl(tenant, VERSION, 4), 'GET');
  const ended = new Promise((resolve) => socket.once('close', resolve));
  for (let index = 0; index < 1000; index += 1) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await ended;
  t.equal(await refusals(world, 'requests_per_connection'), 1);
});

void t.test('the service reads its objects even when every connection of the store is in use', async (t) => {
  const world = await startWorld(t);
  const neighbour = await createNeighbour(t, world);
  const upload = await fetch(await uploadUrl(neighbour.tenant, VERSION, 4), { method: 'PUT', body: 'file' });
  t.equal(upload.status, 200);
  const { hostname, port } = new URL(world.service.addresses.objects);
  const idle = await Promise.all(
    Array.from({ length: 1024 }, async () => {
      const socket = connect({ host: hostname, port: Number(port) });
      t.teardown(() => socket.destroy());
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      return socket;
    }),
  );
  t.equal(idle.length, 1024);
  const path = `${neighbour.tenant.path}/packages/${VERSION.package}/versions/${VERSION.version}`;
  t.match(await neighbour.tenant.api.get(`${path}/binaries`), { status: 200, body: { fileSize: 4 } });
  await neighbour.works('idle connections to the object store');
});
