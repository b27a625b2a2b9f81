import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { columnsWith } from '../encryption/stored.ts';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { startWorld, WIFI } from '../world.ts';
import { createWire, QUICK } from './members.ts';
import { nodesSeen } from './nodes-world.ts';

const keyLine = (id: string): string => `${id} ${randomBytes(32).toString('base64')}\n`;

t.test('two nodes change the encryption key together, without a restart', { skip }, async (t) => {
  const dataDir = t.testdir();
  const files = [0, 1].map((node) => join(dataDir, `keys-of-${node}`));
  const [first, second] = [keyLine('first'), keyLine('second')];
  for (const file of files) writeFileSync(file, first);
  const world = await startWorld(t, {
    dataDir,
    nodes: 2,
    settings: (node) => ({ encryption: { file: files[node] ?? '' } }),
  });
  await nodesSeen(world, 0, 2);
  await nodesSeen(world, 1, 2);
  const raw = await world.raw();
  const read = async (node: number) => (await world.admin({ node }).get('/admin/v1/encryption')).body;
  const tenant = await world.createTenant();
  const elsewhere = await tenant.at(1);
  const device = await world.activatedDevice(tenant);
  const command = async (api: typeof elsewhere): Promise<void> => {
    t.match(await api.put(`${device.path}/settings/wifi`, { json: WIFI }), { status: 201 });
    const { packet, transactionId, parameters } = await device.link.command();
    t.match(parameters, { networks: WIFI });
    device.link.puback(packet);
    await device.link.ack({ transactionId, status: 'succeeded' });
    t.match(await tenant.event(), { type: 'transaction.succeeded' });
  };

  await t.test('while a node lacks the new key, nothing is written with it, and the node is named', async (t) => {
    writeFileSync(files[0] ?? '', `${second}${first}`);
    t.match(await world.admin().post('/admin/v1/encryption/rotation'), { status: 202 });
    await until(async () => (await read(0)).rotation.waitsFor.length === 1);
    const nodes = (await world.admin().get('/admin/v1/nodes')).body.nodes as { nodeId: string; isSelf: boolean }[];
    const { state, waitsFor } = (await read(0)).rotation;
    t.equal(state, 'waiting');
    t.match(
      nodes.find(({ nodeId }) => nodeId === waitsFor[0]),
      { isSelf: false },
    );
    await command(tenant.api);
    t.same(await columnsWith(world, raw, ['enc:v1:second:']), []);
  });

  await t.test('when all have it, all values are encrypted with it, and both nodes go on', async (t) => {
    writeFileSync(files[1] ?? '', `${second}${first}`);
    await until(async () => {
      world.clock.advance(1_000);
      return (await read(1)).rotation.state === 'ended';
    });
    for (const node of [0, 1])
      t.same((await read(node)).keys, [
        { keyId: 'second', state: 'current' },
        { keyId: 'first', state: 'unused' },
      ]);
    t.same(await columnsWith(world, raw, ['enc:v1:first:']), []);
    await command(tenant.api);
    await command(elsewhere);
  });
});

t.test('a node with a key encrypts nothing while another one has none', { skip }, async (t) => {
  const dataDir = t.testdir();
  const file = join(dataDir, 'keys');
  writeFileSync(file, keyLine('first'));
  const world = await startWorld(t, {
    dataDir,
    nodes: 2,
    settings: (node) => ({ encryption: node === 1 ? { file } : null }),
  });
  await nodesSeen(world, 0, 2);
  const tenant = await world.createTenant();
  const elsewhere = await tenant.at(1);
  t.equal((await elsewhere.post(`${tenant.path}/refresh_authkey`)).status, 201);
  t.same(await columnsWith(world, await world.raw(), ['enc:v1:first:']), []);
});

t.test('a node that was cut off during a rotation reads the new key as soon as it is back', { skip }, async (t) => {
  const dataDir = t.testdir();
  const files = [0, 1].map((node) => join(dataDir, `keys-of-${node}`));
  const [first, second] = [keyLine('first'), keyLine('second')];
  for (const file of files) writeFileSync(file, first);
  const wires: ReturnType<typeof createWire>[] = [];
  const world = await startWorld(t, {
    dataDir,
    nodes: 2,
    settings: (node) => ({ encryption: { file: files[node] ?? '' } }),
    cluster: (node) => ({
      lease: QUICK,
      open(url) {
        const wire = createWire(url);
        wires[node] = wire;
        return wire.open;
      },
    }),
  });
  const tenant = await world.createTenant();
  const [, cut] = wires;
  for (const name of ['lapel lease', 'lapel hints']) cut?.cut(name, true);
  await nodesSeen(world, 0, 1);
  writeFileSync(files[0] ?? '', `${second}${first}`);
  t.match(await world.admin().post('/admin/v1/encryption/rotation'), { status: 202 });
  await until(async () => {
    world.clock.advance(1_000);
    return (await world.admin().get('/admin/v1/encryption')).body.rotation.state === 'ended';
  });
  t.match(
    (await world.nodes[1]?.vitals.problems())?.find(({ part }) => part === 'encryption'),
    { reason: /the key second is missing/ },
    'readiness says what is missing',
  );
  writeFileSync(files[1] ?? '', `${second}${first}`);
  for (const name of ['lapel lease', 'lapel hints']) cut?.mend(name);
  await nodesSeen(world, 0, 2);
  await until(async () => {
    world.clock.advance(1_000);
    return !(await world.nodes[1]?.vitals.problems())?.some(({ part }) => part === 'encryption');
  });
  t.match(await (await tenant.at(1)).post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } }), {
    status: 202,
  });
  await tenant.receiver.next();
});

t.test('each node tells of the failing parts of all, by the names of their nodes', { skip }, async (t) => {
  const dataDir = t.testdir();
  const files = [0, 1].map((node) => join(dataDir, `keys-of-${node}`));
  const [first, second] = [keyLine('first'), keyLine('second')];
  for (const file of files) writeFileSync(file, first);
  let wire: ReturnType<typeof createWire> | undefined;
  const world = await startWorld(t, {
    dataDir,
    nodes: 2,
    keepsHistory: true,
    settings: (node) => ({ encryption: { file: files[node] ?? '' } }),
    cluster: (node) => ({
      lease: QUICK,
      open(url) {
        const own = createWire(url);
        if (node === 1) wire = own;
        return own.open;
      },
    }),
  });
  // The key is changed while the other node is cut off: it comes back without the new one.
  for (const name of ['lapel lease', 'lapel hints']) wire?.cut(name, true);
  await nodesSeen(world, 0, 1);
  writeFileSync(files[0] ?? '', `${second}${first}`);
  t.match(await world.admin().post('/admin/v1/encryption/rotation'), { status: 202 });
  for (const name of ['lapel lease', 'lapel hints']) wire?.mend(name);
  await nodesSeen(world, 0, 2);
  type Told = { kind: string; text: string; nodeId: string | null };
  /** Lets some time pass, in which each node tells its state; resolves to what a node tells of the part. */
  const partsAt = async (node: number): Promise<Told[]> => {
    world.clock.advance(5_000);
    await world.idle();
    const { alarms } = (await world.admin({ node }).get('/admin/v1/fleet/alarms')).body;
    return alarms.filter(({ kind, text }: Told) => kind === 'part' && text.startsWith('encryption:'));
  };
  const { nodes } = (await world.admin({ node: 1 }).get('/admin/v1/nodes')).body;
  const { nodeId } = nodes.find(({ isSelf }: { isSelf: boolean }) => isSelf);
  for (const node of [0, 1]) {
    await until(async () => (await partsAt(node)).length > 0);
    const found = await partsAt(node);
    t.match(found, [{ level: 'critical', text: /the key second is missing/, nodeId }], `node ${node}`);
    t.equal(found.length, 1, 'and once');
  }
  t.match((await world.admin().get('/admin/v1/fleet/alarms')).body.verdict, { state: 'critical' });
  writeFileSync(files[1] ?? '', `${second}${first}`);
  for (const node of [0, 1]) await until(async () => (await partsAt(node)).length === 0);
});
