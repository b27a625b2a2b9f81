import t from 'tap';
import { fromPayload, type Hint, toLine, toPayloads } from '../../src/platform/cluster/hints.ts';
import { createDatabase, NO_POSTGRES as skip } from '../postgres/databases.ts';
import { STEADY, startMember } from './members.ts';

t.jobs = 4; // the tests mostly wait for leases

t.test('hints fit into payloads, and keep their order', async (t) => {
  const hints: Hint[] = Array.from({ length: 1_000 }, (_, at) => ({
    kind: 'wake',
    about: String(350_000_000_000_000 + at),
  }));
  const payloads = toPayloads(hints.map(toLine));
  t.ok(payloads.length > 1);
  for (const payload of payloads) t.ok(Buffer.byteLength(payload) < 8_000);
  t.same(payloads.flatMap(fromPayload), hints);
  t.same(fromPayload('zwhat a later release says\nw1'), [{ kind: 'wake', about: '1' }]);
});

t.test('a node gets its own hints, and repeated ones once', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await startMember(t, url, { lease: STEADY });
  const second = await startMember(t, url, { lease: STEADY });
  await first.until(() => first.nodes.count() === 2);
  const [to, told] = [second.nodes.id(), second.next('told')];
  for (const about of ['1', '2', '1']) first.bus.send(to, { kind: 'wake', about });
  first.bus.send(first.nodes.id(), { kind: 'wake', about: 'itself' });
  first.bus.send('node_of_nobody', { kind: 'wake', about: '3' });
  await told;
  first.bus.broadcast({ kind: 'wake', about: 'all' });
  await second.next('told');
  t.same(second.told, ['1', '2', 'all']);
  t.same(first.told, []);
  await first.bus.idle();
  const { values } = await first.metrics.clusterHints.get();
  const sent = values.find(({ labels }) => labels.kind === 'wake' && labels.outcome === 'sent');
  t.equal(sent?.value, 3);
});

t.test('a listener that was cut off listens again, and reports that it may have missed hints', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await startMember(t, url, { lease: STEADY });
  const second = await startMember(t, url, { lease: STEADY });
  await first.until(() => first.nodes.count() === 2);
  const gap = second.next('gap');
  second.wire.cut('lapel hints');
  await gap;
  const told = second.next('told');
  first.bus.send(second.nodes.id(), { kind: 'wake', about: '1' });
  await told;
  t.same(second.told, ['1']);
});

t.test('a node that is back with another name gets the hints for that name', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await startMember(t, url, { lease: STEADY });
  const second = await startMember(t, url);
  await second.until(second.nodes.mayAct); // a node without a lease loses none
  const back = second.next('back');
  const former = second.nodes.id();
  await first.until(() => first.nodes.isLive(former));
  second.wire.cut('lapel lease', true);
  await first.until(() => !first.nodes.isLive(former)); // until then it goes on under its name
  second.wire.mend('lapel lease');
  await back;
  await second.next('gap');
  // On a busy machine it may lose its lease again, and have yet another name.
  await first.until(() => {
    if (first.nodes.isLive(second.nodes.id())) first.bus.send(second.nodes.id(), { kind: 'wake', about: '1' });
    return second.told.length > 0;
  });
  t.same(new Set(second.told), new Set(['1']));
});

t.test(
  'a node to which more hints are sent than may wait is told so, even while more are sent',
  { skip },
  async (t) => {
    const url = await createDatabase(t);
    const first = await startMember(t, url, { lease: STEADY });
    const second = await startMember(t, url, { lease: STEADY });
    await first.until(() => first.nodes.count() === 2);
    const gap = second.next('gap');
    // Longer than the second between two looks at the connection, so that one comes while no hint can be sent.
    for (const end = performance.now() + 1_500; performance.now() < end; ) {
      for (let device = 0; device <= 20_000; device += 1)
        first.bus.send(second.nodes.id(), { kind: 'wake', about: String(device) });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await gap;
    const { values } = await first.metrics.clusterHints.get();
    t.ok(values.some(({ labels, value }) => labels.outcome === 'dropped' && value > 0));
  },
);

t.test('hints that cannot be sent are dropped and counted, and delay nothing', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await startMember(t, url, { lease: STEADY });
  const second = await startMember(t, url, { loses: ({ about }) => about === 'lost', lease: STEADY });
  await first.until(() => first.nodes.count() === 2);
  first.wire.cut('lapel hints', true);
  first.bus.send(second.nodes.id(), { kind: 'wake', about: '1' });
  await first.bus.idle();
  const { values } = await first.metrics.clusterHints.get();
  t.match(
    values.filter(({ labels }) => labels.kind === 'wake'),
    [{ labels: { outcome: 'dropped' }, value: 1 }],
  );
});
