import { Client } from 'pg';
import t, { type Test } from 'tap';
import { chosen, PARTITIONS, partitionOf } from '../../src/platform/cluster/rendezvous.ts';
import { createDatabase, NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';
import { createWire, STEADY, startMember } from './members.ts';

type Member = Awaited<ReturnType<typeof startMember>>;
const ALL = Array.from({ length: PARTITIONS }, (_, at) => at);
/** The partitions of several members, in order. */
const together = (...members: Member[]): number[] => members.flatMap((member) => member.mine()).sort((a, b) => a - b);

t.jobs = 4; // the tests mostly wait for leases

t.test('a receiver is in the same partition in every release', async (t) => {
  t.equal(partitionOf({ applicationId: 'dev-app', setting: 'deviceEvent' }), 53);
  t.equal(partitionOf({ applicationId: 'app_0123456789abcdef', setting: 'callEvent' }), 28);
});

t.test('partitions are spread evenly, and move only when a node comes or goes', async (t) => {
  const three = ['node_a', 'node_b', 'node_c'];
  const of = (nodeIds: string[]): (string | undefined)[] => ALL.map((partition) => chosen(partition, nodeIds));
  const [all, two] = [of(three), of(three.slice(0, 2))];
  for (const nodeId of three) t.ok(all.filter((one) => one === nodeId).length >= 12, nodeId);
  for (const [partition, nodeId] of all.entries()) if (nodeId !== 'node_c') t.equal(two[partition], nodeId);
  t.same(all, of(three.toReversed()));
  t.equal(chosen(0, []), undefined);
});

t.test(
  'a single node has all partitions; they are spread when others come, and taken over when one goes',
  { skip },
  async (t) => {
    const url = await createDatabase(t);
    const first = await startMember(t, url);
    await first.until(() => first.partitions.owned() === PARTITIONS);
    const second = await startMember(t, url);
    const third = await startMember(t, url);
    await third.until(
      () =>
        together(first, second, third).length === PARTITIONS &&
        second.partitions.owned() > 0 &&
        third.partitions.owned() > 0 &&
        first.partitions.owned() < PARTITIONS,
    );
    t.same(together(first, second, third), ALL, 'each by one');
    await second.stop();
    await third.until(() => together(first, third).length === PARTITIONS);
    t.same(together(first, third), ALL);
  },
);

t.test('a partition is handed over only when its work in progress has ended', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await startMember(t, url);
  await first.until(() => first.partitions.owned() === PARTITIONS);
  const held = Promise.withResolvers<void>();
  first.drains.hold = held.promise;
  const second = await startMember(t, url);
  await first.until(() => first.mine().length < PARTITIONS);
  await second.next('beat');
  await second.next('beat');
  t.equal(second.partitions.owned(), 0, 'the other one waits');
  t.equal(first.partitions.owned(), PARTITIONS);
  t.match(first.partitions.trouble(), /have had no sender for \d+ s/, 'meanwhile their node is not ready');
  t.equal(second.partitions.trouble(), undefined);
  held.resolve();
  await second.until(() => together(first, second).length === PARTITIONS);
  await first.until(() => first.partitions.trouble() === undefined);
  t.ok(second.partitions.owned() > 0);
});

t.test(
  'a node that loses its lease begins no further work, and its partitions are taken over when the lease has ended',
  { skip },
  async (t) => {
    const url = await createDatabase(t);
    const first = await startMember(t, url);
    const second = await startMember(t, url);
    await second.until(() => second.partitions.owned() > 0 && together(first, second).length === PARTITIONS);
    first.wire.cut('lapel lease', true);
    await first.next('lost');
    t.same(first.mine(), []);
    t.ok(second.partitions.owned() < PARTITIONS, 'nobody has them before that');
    await second.until(() => second.partitions.owned() === PARTITIONS);
    t.same(second.mine(), ALL);
  },
);

const TWO = {
  LAPEL_ADMIN_TOKEN: 'a token of administrators that all nodes know',
  LAPEL_PUBLIC_URL: 'https://lapel.test',
  LAPEL_S3_ENDPOINT: 'http://127.0.0.1:9',
};

t.test('a node that is not ready to send takes no partitions, and so keeps none', { skip }, async (t) => {
  const url = await createDatabase(t);
  let second: Member | undefined;
  const world = await startWorld(t, {
    env: { ...TWO, LAPEL_DATABASE_URL: url },
    cluster: () => ({
      lease: STEADY,
      open: () => {
        const wire = createWire(url);
        let beats = 0;
        return async (options) => {
          if (options.name === 'lapel hints' && !second) {
            const from = beats;
            second = await startMember(t, url, { lease: STEADY });
            await until(() => beats > from + 4); // the starting node has seen the other one
          }
          const connection = await wire.open(options);
          const query: typeof connection.query = (text, ...values) => {
            if (text.includes('FROM receiver_partitions')) beats += 1;
            return connection.query(text, ...values);
          };
          return { ...connection, query };
        };
      },
    }),
  });
  const other = second as unknown as Member;
  const owned = async (): Promise<number> =>
    (await world.service.metrics.clusterPartitions.get()).values[0]?.value ?? 0;
  await until(async () => other.partitions.owned() > 0 && (await owned()) + other.mine().length === PARTITIONS);
  t.ok((await owned()) > 0, 'the first node has its share, too');
});

/** A node whose receivers are in partitions that another node gets when it comes. */
async function busyNode(t: Test) {
  const url = await createDatabase(t);
  const world = await startWorld(t, {
    env: { ...TWO, LAPEL_DATABASE_URL: url },
    cluster: () => ({ lease: STEADY }),
  });
  const own = new Client({ connectionString: url });
  await own.connect();
  t.teardown(() => own.end());
  const tenants = await Promise.all(Array.from({ length: 8 }, (_, at) => world.createTenant(`dev-${at}`)));
  const send = (): Promise<unknown> =>
    Promise.all(
      tenants.map(async ({ api, path, receiver }) => {
        await api.post(`${path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
        await receiver.next();
      }),
    );
  return { url, world, own, send };
}

t.test('a hand-over waits for outcomes that cannot be stored for 20 s at most', { skip }, async (t) => {
  const { url, world, own, send } = await busyNode(t);
  const gone = async (): Promise<unknown> => (await world.service.metrics.deliveriesGivenUp.get()).values[0]?.value;
  await own.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now' USING ERRCODE = '53100'; END $$;
     CREATE TRIGGER refuse BEFORE UPDATE ON deliveries FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  await send();
  const second = await startMember(t, url, { lease: STEADY });
  await second.until(() => second.nodes.live().length === 2);
  await until(async () => {
    world.clock.advance(1_000);
    return second.partitions.owned() > 0;
  });
  t.ok(((await gone()) as number) > 0, 'the metric counts them');
});
