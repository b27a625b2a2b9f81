import t from 'tap';
import { chosen, PARTITIONS, partitionOf } from '../../src/platform/cluster/rendezvous.ts';
import { createDatabase, NO_POSTGRES as skip } from '../postgres/databases.ts';
import { startMember } from './members.ts';

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
  held.resolve();
  await second.until(() => together(first, second).length === PARTITIONS);
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
