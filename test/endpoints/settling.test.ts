import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { send } from '../stream/stream-world.ts';
import { bodyOf, startEndpoints } from './endpoint-world.ts';

/** More events than a change of an endpoint changes in its own unit of work, and in one piece of others. */
const SENT = 1_100;
/** Fewer than the rate of a device lets through at once. */
const AT_ONCE = 100;

onBoth(t, async (t, database) => {
  const { world, tenant, device, another, add, settled } = await startEndpoints(t, { database });
  const other = await another();
  /** An ordered endpoint that refuses all, so that the events of each device wait for the first one. */
  async function stuck() {
    const made = await add({ types: ['custom.*'], ordered: 'device' });
    made.receiver.answer({ status: 500 });
    return made;
  }
  const [sent, skipped, killed] = [await stuck(), await stuck(), await stuck()];
  for (let from = 0; from < SENT; from += AT_ONCE) {
    const counts = Array.from({ length: AT_ONCE }, (_, index) => from + index);
    await Promise.all(counts.map((count) => send((count % 2 === 0 ? device : other).link, `custom.n${count}`)));
    world.clock.advance(1_000);
  }
  await settled();

  const change = async (at: string, json: object): Promise<void> => {
    t.equal((await tenant.api.patch(at, { json })).status, 200);
  };
  /** How many deliveries of an endpoint have each status. */
  async function counted(at: string): Promise<Record<string, number>> {
    const rows: { status: string }[] = [];
    for (let query = '', more = true; more; ) {
      const answer = await tenant.api.get(`${at}/deliveries?limit=1000${query}`);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      const page = answer.body.deliveries;
      rows.push(...page);
      query = `&before=${page.at(-1)?.sequence}`;
      more = page.length === 1_000;
    }
    const groups = Map.groupBy(rows, ({ status }) => status);
    return Object.fromEntries(groups.entries().map(([status, { length }]) => [status, length]));
  }

  await t.test('events beyond a piece wait when their endpoint is disabled, and are sent in order', async (t) => {
    t.same(await counted(sent.at), { pending: 2, blocked: SENT - 2 });
    await change(sent.at, { enabled: false });
    await settled();
    t.same(await counted(sent.at), { blocked: SENT });
    sent.receiver.answer({});
    sent.receiver.requests.length = 0;
    await change(sent.at, { enabled: true, missed: 'send' });
    await settled();
    world.clock.advance(10 * 60_000); // the first ones wait for their next attempt
    await settled();
    t.same(await counted(sent.at), { delivered: SENT });
    for (const { deviceId } of [device, other]) {
      const numbers = sent.receiver.requests
        .map(bodyOf)
        .flatMap(({ data, deviceSequence = 0 }) => (data.deviceId === deviceId ? deviceSequence : []));
      t.same(
        numbers,
        numbers.toSorted((a, b) => a - b),
      );
      t.equal(numbers.length, SENT / 2);
    }
  });

  await t.test('what is skipped stays skipped, also in a later change', async (t) => {
    await change(skipped.at, { enabled: false });
    await settled();
    skipped.receiver.answer({});
    skipped.receiver.requests.length = 0;
    await change(skipped.at, { enabled: true, missed: 'skip' });
    await change(skipped.at, { enabled: false });
    await change(skipped.at, { enabled: true, missed: 'send' });
    await change(skipped.at, { ordered: 'none' });
    await settled();
    t.same(await counted(skipped.at), { skipped: SENT });
    await send(device.link, 'custom.new');
    await settled();
    t.same(
      skipped.receiver.requests.map((request) => bodyOf(request).type),
      ['custom.new'],
    );
  });

  await t.test('a process that ends in the middle of it goes on after its start', async (t) => {
    await change(killed.at, { enabled: false });
    await settled();
    await send(device.link, 'custom.missed');
    await settled();
    killed.receiver.answer({});
    killed.receiver.requests.length = 0;
    const { next } = (await tenant.api.get(`${tenant.path}/events?from=latest`)).body;
    await world.restart(async () => {
      const raw = await world.raw();
      const own = `endpoint_id = '${killed.endpoint['endpointId']}'`;
      await raw.exec(`UPDATE endpoints SET enabled = 1, disabled_reason = NULL, after_sequence = ${next}, settling = ${next}
        WHERE ${own}`);
      await raw.exec(`UPDATE endpoint_deliveries SET status = 'skipped', next_attempt_at = NULL WHERE ${own} AND sequence IN
        (SELECT sequence FROM endpoint_deliveries WHERE ${own} ORDER BY device_id, sequence LIMIT 400)`);
    });
    await tenant.renew();
    await settled();
    t.same(await counted(killed.at), { skipped: SENT + 1 }, 'with the new event of before');
    t.equal(killed.receiver.requests.length, 0);
  });
});
