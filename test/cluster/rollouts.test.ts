import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { put, twoNodes } from './nodes-world.ts';

const LANG = { operation: 'setLanguage', devices: {} };

t.test('rollouts on two nodes', { skip }, async (t) => {
  const { world, tenant, device, elsewhere } = await twoNodes(t);
  const other = await world.activatedDevice(tenant, { node: 1 });
  const devices = [device, other];
  const path = `${tenant.path}/rollouts`;
  const start = async (api: typeof elsewhere, json: object): Promise<string> => {
    const answer = await api.post(path, { json: { ...LANG, ...json } });
    t.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.rolloutId;
  };
  const read = async (rolloutId: string) => (await elsewhere.get(`${path}/${rolloutId}`)).body;
  /** The hints of a kind that the nodes have sent. */
  async function hintsOf(kind: string): Promise<number> {
    const counts = await Promise.all(world.nodes.map(({ metrics }) => metrics.clusterHints.get()));
    return counts
      .flatMap(({ values }) => values)
      .filter(({ labels }) => labels.kind === kind && labels.outcome === 'sent')
      .reduce((sum, { value }) => sum + value, 0);
  }
  /** Lets the time pass, until the rollout is in a state. */
  const reached = (
    rolloutId: string,
    wanted: (rollout: { state: string; counts: Record<string, number> }) => boolean,
  ) =>
    until(async () => {
      world.clock.advance(1_000);
      return wanted(await read(rolloutId));
    });

  await t.test('the node that leads carries out what another node stored, for the devices of both', async (t) => {
    const before = { wake: await hintsOf('wake'), crossed: await hintsOf('crossed') };
    const rolloutId = await start(elsewhere, { parameters: { lang: 'ja' } });
    await reached(rolloutId, ({ counts }) => counts['unfinished'] === 2);
    for (const { link } of devices) {
      const { transactionId, packet } = await link.command();
      link.puback(packet);
      await link.ack({ transactionId, status: 'succeeded' });
    }
    await reached(rolloutId, ({ state }) => state === 'completed');
    t.match(await read(rolloutId), { counts: { succeeded: 2 } });
    t.equal(await hintsOf('wake'), before.wake + 1, 'the node of the other device was told');
    t.equal(await hintsOf('crossed'), before.crossed, 'which is no reason to hand it over');
    await put(tenant.api, `${tenant.path}/devices/${other.deviceId}`);
    const { transactionId, packet } = await other.link.command();
    other.link.puback(packet);
    await other.link.ack({ transactionId, status: 'succeeded' });
    t.equal(await hintsOf('crossed'), before.crossed + 1, 'the command of a call to another node is one');
  });

  await t.test('results of both nodes count together in the rule that pauses', async (t) => {
    const abort = { failedPercent: 50, minimumResults: 2 };
    const rolloutId = await start(elsewhere, { parameters: { lang: 'en' }, abort });
    await reached(rolloutId, ({ counts }) => counts['unfinished'] === 2);
    await Promise.all(
      devices.map(async ({ link }) => {
        const { transactionId } = await link.command();
        await link.ack({ transactionId, status: 'failed', error: { code: 'INTERNAL', message: '' } });
      }),
    );
    t.match(await read(rolloutId), { state: 'paused', reason: 'ABORT_RULE', counts: { failed: 2 } });
    t.equal((await elsewhere.delete(`${path}/${rolloutId}`)).status, 200);
  });

  await t.test('a device is seen again through either node, and the one that leads says so', async (t) => {
    const rolloutId = await start(elsewhere, {
      operation: 'setWifi',
      parameters: [{ ssid: 'depot', password: 'correct horse', security: 'WPA2' }],
      confirm: { seenAgainWithin: 3600 },
    });
    await reached(rolloutId, ({ counts }) => counts['unfinished'] === 2);
    for (const { link } of devices) {
      const { transactionId } = await link.command();
      await link.ack({ transactionId, status: 'succeeded' });
    }
    t.match(await read(rolloutId), { state: 'running', counts: { confirming: 2 } });
    world.clock.advance(40_000);
    for (const { link } of devices) {
      link.publish('status', { lang: 'it' });
      await link.next('puback');
    }
    await reached(rolloutId, ({ state }) => state === 'completed');
    t.match(await read(rolloutId), { counts: { succeeded: 2 } });
  });

  await t.test('a pause through one node takes back what waits for a device of the other', async (t) => {
    await other.link.drop();
    const rolloutId = await start(tenant.api, { parameters: { lang: 'de' } });
    await reached(rolloutId, ({ counts }) => counts['unfinished'] === 2);
    const { transactionId, packet } = await device.link.command();
    device.link.puback(packet);
    const transaction = `${tenant.path}/transactions/${transactionId}`;
    await until(async () => {
      world.clock.advance(1_000);
      return (await tenant.api.get(transaction)).body.status === 'delivered';
    });
    t.equal((await elsewhere.post(`${path}/${rolloutId}/pause`)).status, 200);
    const link = await world.connect({ ...other, node: 1 });
    await reached(rolloutId, ({ counts }) => counts['waiting'] === 1);
    t.equal(link.pending('publish').length, 0);
    await device.link.ack({ transactionId, status: 'succeeded' });
    t.equal((await tenant.api.post(`${path}/${rolloutId}/resume`)).status, 200);
    await reached(rolloutId, ({ counts }) => counts['unfinished'] === 1);
    const again = await link.command();
    await link.ack({ transactionId: again.transactionId, status: 'succeeded' });
    await reached(rolloutId, ({ state }) => state === 'completed');
    await link.drop();
  });

  await t.test('commands that were not delivered in time expire on both nodes, and count', async (t) => {
    await other.link.drop();
    await device.link.drop();
    const rolloutId = await start(elsewhere, { parameters: { lang: 'ko' }, expireIn: 60 });
    await reached(rolloutId, ({ counts }) => counts['unfinished'] === 2);
    world.clock.advance(60_000);
    await reached(rolloutId, ({ counts }) => counts['failed'] === 2);
    const { body } = await elsewhere.get(`${path}/${rolloutId}/devices`);
    t.match(body.devices, [{ code: 'EXPIRED' }, { code: 'EXPIRED' }]);
    t.same((await elsewhere.get(`${tenant.path}/transactions?unfinished=true`)).body.transactions, []);
    await elsewhere.delete(`${path}/${rolloutId}`);
    device.link = await world.connect(device);
  });

  await t.test('when the node that leads has gone, the other one goes on', async (t) => {
    await device.link.drop();
    const rolloutId = await start(elsewhere, { parameters: { lang: 'fr' }, stages: [{ count: 1 }], ratePerMinute: 60 });
    await world.nodes[0]?.[Symbol.asyncDispose]();
    const links: (typeof device.link)[] = [];
    for (const { deviceId, credential } of devices) links.push(await world.connect({ deviceId, credential, node: 1 }));
    const done = new Set<number>();
    await until(async () => {
      world.clock.advance(1_000);
      for (const link of links)
        for (const packet of link.pending('publish').slice()) {
          await link.next('publish');
          const { transactionId } = JSON.parse(String((packet as { payload: Buffer }).payload));
          t.notOk(done.has(transactionId), 'each device gets one command');
          done.add(transactionId);
          await link.ack({ transactionId, status: 'succeeded' });
        }
      return (await read(rolloutId)).state === 'completed';
    });
    t.equal(done.size, 2);
    t.match(await read(rolloutId), { counts: { succeeded: 2 } });
  });
});
