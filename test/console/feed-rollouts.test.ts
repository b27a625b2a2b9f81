import t from 'tap';
import { pass, startRollouts } from '../rollouts/rollout-world.ts';
import { startWorld } from '../world.ts';
import { type Item, open } from './feed-client.ts';

t.test('a rollout is followed by its application and by the operator, and by nobody else', async (t) => {
  const world = await startWorld(t);
  const [tenant, other] = [await world.createTenant(), await world.createTenant('other')];
  const device = await world.activatedDevice(tenant);
  const asApplication = async (topics: string, of = tenant) =>
    open(t, `${world.service.addresses.http}${of.path}/feed?topics=${encodeURIComponent(topics)}`, {
      authorization: `Bearer ${await world.tokenOf(of.applicationId, of.secret)}`,
    });
  const asAdmin = (topics: string) =>
    open(t, `${world.service.addresses.admin}/admin/v1/feed?topics=${encodeURIComponent(topics)}`, {
      authorization: `Bearer ${world.service.adminToken}`,
    });
  const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };
  const { rolloutId } = (await tenant.api.post(`${tenant.path}/rollouts`, { json })).body;
  await world.idle();
  const command = await device.link.command();
  const topic = `rollouts:${rolloutId}`;
  const strange = await asApplication(topic, other);
  t.same(await strange.next('snapshot'), []);
  strange.stop();
  const [own, admins] = [await asApplication(topic), await asAdmin(topic)];
  for (const feed of [own, admins])
    t.match(await feed.next('snapshot'), [
      { topic: 'rollouts', key: rolloutId, value: { state: 'running', counts: { unfinished: 1 } } },
    ]);
  await device.link.ack({ transactionId: command.transactionId, status: 'failed', error: { code: 'X', message: 'x' } });
  // The feed looks once a second.
  while (!own.events.some(({ event }) => event === 'change')) {
    await world.idle();
    world.clock.advance(250);
    await new Promise(setImmediate);
  }
  const changes = (await own.next('change')) as Item[];
  t.match(changes.filter((one) => one.topic === 'rollouts').at(-1), {
    key: rolloutId,
    value: { state: 'completed', counts: { failed: 1, unfinished: 0 } },
  });
  for (const feed of [own, admins]) feed.stop();
});

t.test('the feed tells that a soak has begun, also when no count changes', async (t) => {
  const rollouts = await startRollouts(t, 3);
  const { world, tenant, start, commands, answer, read } = rollouts;
  const inMinutes = (minutes: number): string =>
    new Date(world.clock.now() / 1000 + minutes * 60_000).toISOString().slice(11, 16);
  const rolloutId = await start({
    stages: [{ count: 2, continueWhen: { succeededPercent: 100, soakFor: 172_800 } }],
    window: { from: inMinutes(20), to: inMinutes(5), timeZone: 'UTC' },
  });
  const sent = [...(await commands())];
  await pass(world, 6 * 60_000);
  for (const one of sent) await answer(...one);
  const feed = await open(t, `${world.service.addresses.http}${tenant.path}/feed?topics=rollouts:${rolloutId}`, {
    authorization: `Bearer ${await world.tokenOf(tenant.applicationId, tenant.secret)}`,
  });
  t.match(await feed.next('snapshot'), [{ value: { counts: { succeeded: 2 }, soakEndsAt: null } }], 'it is closed');
  await pass(world, 15 * 60_000);
  const { soakEndsAt } = (await read(rolloutId)).stages[0]!;
  t.ok(soakEndsAt, 'the soak has begun with the window');
  /** The next change that has what is wanted; undefined when the feed does not tell it within a minute. */
  const told = async (isWanted: (item: Item) => boolean): Promise<Item | undefined> => {
    for (let looks = 0; looks < 240; looks += 1) {
      await pass(world, 250);
      await new Promise((resolve) => setTimeout(resolve, 2));
      const changes = feed.events.splice(0).flatMap(({ event, data }) => (event === 'change' ? (data as Item[]) : []));
      const found = changes.find(isWanted);
      if (found) return found;
    }
    return undefined;
  };
  t.match(await told(({ value }) => value.soakEndsAt === soakEndsAt), { key: rolloutId, value: { state: 'running' } });
  feed.stop();
});
