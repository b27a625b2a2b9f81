import t from 'tap';
import { admitting } from '../../src/platform/cluster/node-rows.ts';
import { rawConnections } from '../../src/platform/database/postgres/raw-connection.ts';
import { createDatabase, NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { QUICK, startMember } from './members.ts';

/** The times of a lease for a node that is refused: it gives up soon. */
const SHORT = { renewMs: 20, validMs: 200 };

await t.test('a node that was frozen for longer than its lease does no further work under it', { skip }, async (t) => {
  const member = await startMember(t, await createDatabase(t));
  const former = member.nodes.id();
  const back = member.next('back');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, QUICK.validMs * 1.1);
  t.notOk(member.nodes.mayAct(), 'at once, before any timer');
  t.same(member.mine(), []);
  await back;
  t.not(member.nodes.id(), former);
  await member.until(() => member.mine().length === 64);
});

await t.test('a node on a machine that was suspended does not rely on its lease', { skip }, async (t) => {
  let suspended = 0; // the monotonic clock stood still
  const member = await startMember(t, await createDatabase(t), { wall: () => Date.now() + suspended });
  await member.until(() => member.mine().length === 64);
  suspended = 60_000;
  t.notOk(member.nodes.mayAct());
  t.equal(member.nodes.left(), 0);
  t.same(member.mine(), []);
  t.match(member.nodes.trouble(), /not renewed/);
  await member.next('beat');
  t.ok(member.nodes.mayAct(), 'it asks whether it still has it');
});

await t.test('a lease is lost when its time is over, and not when its timer comes', { skip }, async (t) => {
  let ahead = 0;
  // The clock of the machine leaps when a renewal is answered, so the timer begins with too little time, and is put back.
  function answered(): void {
    ahead = 600;
    setImmediate(() => {
      ahead = 0;
    });
  }
  const { nodes, wire, next } = await startMember(t, await createDatabase(t), {
    wall: () => Date.now() + ahead,
    answered,
  });
  await next('beat');
  const lost = next('lost');
  wire.cut('lapel lease', true);
  await lost;
  t.notOk(nodes.mayAct());
  t.match(nodes.trouble(), /not renewed/);
});

t.jobs = 4; // the tests mostly wait for leases

t.test('nodes notice when others come and go', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await startMember(t, url);
  const second = await startMember(t, url);
  await first.until(() => first.nodes.count() === 2);
  t.same(
    first.nodes.live().map(({ nodeId }) => nodeId),
    [first.nodes.id(), second.nodes.id()],
    'in the order in which they came',
  );
  t.ok(first.nodes.leads(), 'who came first leads');
  t.notOk(second.nodes.leads());
  await first.stop();
  await second.until(() => second.nodes.count() === 1);
  t.ok(second.nodes.leads(), 'and then who came next');
  t.same(
    second.lines.map(({ msg }) => msg).filter((msg) => msg.startsWith('a node')),
    ['a node came', 'a node went'],
  );
});

t.test(
  'a node that cannot renew its lease stops before the lease ends, and comes back with another name',
  { skip },
  async (t) => {
    const url = await createDatabase(t);
    const first = await startMember(t, url);
    const second = await startMember(t, url);
    await first.until(first.nodes.mayAct); // a node without a lease loses none
    const former = first.nodes.id();
    let isGone = false;
    const lost = first.next('lost');
    const gone = second
      .until(() => !second.nodes.isLive(former))
      .then(() => {
        isGone = true;
      });
    first.wire.cut('lapel lease', true);
    await lost;
    t.notOk(isGone, 'within its lease: for the other it lives');
    t.notOk(first.nodes.mayAct());
    t.notOk(first.nodes.leads());
    t.match(first.nodes.trouble(), /not renewed/);
    await gone;
    const back = first.next('back');
    first.wire.mend('lapel lease');
    await back;
    t.not(first.nodes.id(), former);
    t.ok(first.nodes.mayAct());
    t.equal(first.nodes.trouble(), undefined);
    await second.until(() => second.nodes.isLive(first.nodes.id()));
    t.ok(second.nodes.leads(), 'who came back is the last in the row');
  },
);

t.test('a short cut of the lease’s connection is repaired, and nothing is lost', { skip }, async (t) => {
  const member = await startMember(t, await createDatabase(t));
  const { nodes } = member;
  const name = nodes.id();
  let lost = false;
  nodes.onLost(() => {
    lost = true;
  });
  member.wire.cut('lapel lease');
  await member.next('beat');
  t.notOk(lost);
  t.equal(nodes.id(), name);
});

t.test('a node without a required common setting refuses to run beside another one', { skip }, async (t) => {
  const url = await createDatabase(t);
  const lacking = 'LAPEL_PUBLIC_URL LAPEL_S3_ENDPOINT';
  const whole = await startMember(t, url);
  await t.rejects(startMember(t, url, { lacking, lease: SHORT }), {
    code: 'SETTING_INVALID',
    message: /^LAPEL_PUBLIC_URL: is needed, because another node runs/,
  });
  await whole.stop();
  const alone = await startMember(t, url, { lacking });
  await t.rejects(startMember(t, url, { lease: SHORT }), {
    code: 'SETTING_INVALID',
    message: /runs on this database without LAPEL_PUBLIC_URL, LAPEL_S3_ENDPOINT; it needs these settings/,
  });
  t.equal(alone.nodes.count(), 1);
});

t.test('a dead node does not prevent the start of its successor', { skip }, async (t) => {
  const url = await createDatabase(t);
  const dead = await startMember(t, url, { lacking: 'LAPEL_PUBLIC_URL' });
  dead.wire.cut('lapel lease', true);
  const next = await startMember(t, url, { lacking: 'LAPEL_PUBLIC_URL' });
  t.equal(next.nodes.count(), 1);
  t.ok(next.nodes.leads());
});

t.test('a node that freezes while it registers does not keep others from registering', { skip }, async (t) => {
  const url = await createDatabase(t);
  const ended = Promise.withResolvers<void>();
  const frozen = await rawConnections(url)({ name: 'frozen', boundMs: 60_000, onEnd: ended.resolve });
  const admitted = Promise.withResolvers<void>();
  const forEver = admitting(frozen, () => {
    admitted.resolve();
    return ended.promise;
  });
  const isEnded = t.rejects(forEver, 'the server ends its connection');
  await admitted.promise;
  const member = await startMember(t, url, { lease: { ...QUICK, validMs: 5_000 } });
  t.ok(member.nodes.leads());
  await isEnded;
});

t.test('a node whose settings differ from those of another names them', { skip }, async (t) => {
  const url = await createDatabase(t);
  const first = await startMember(t, url, { fingerprint: '{"release":"1","LAPEL_RATE_LIMIT":200,"LAPEL_GONE":1}' });
  await startMember(t, url, { fingerprint: '{"release":"2","LAPEL_RATE_LIMIT":200,"LAPEL_NEW":1}' });
  await first.until(() => first.nodes.count() === 2);
  t.match(
    first.lines.find(({ settings }) => settings),
    { settings: ['release'], msg: 'a node has other settings than this one' },
    'what only one of them knows is no difference',
  );
});

t.test('a node whose lease the database has ended, and that cannot register, is cut off', { skip }, async (t) => {
  const url = await createDatabase(t);
  const member = await startMember(t, url);
  const open = (): ReturnType<ReturnType<typeof rawConnections>> =>
    rawConnections(url)({ name: 'other', boundMs: 60_000, onEnd: () => undefined });
  const [registering, other] = [await open(), await open()];
  t.teardown(() => [registering, other].map((one) => one.close()));
  await admitting(registering, async () => {
    await registering.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    let isCut = false;
    member.nodes.onCut(() => {
      isCut = true;
    });
    const lost = member.next('lost');
    await other.query('DELETE FROM nodes');
    await lost;
    const failed = (): number => member.lines.filter(({ msg }) => msg.startsWith('the lease was not renewed')).length;
    await until(() => isCut || failed() > 5);
    t.ok(isCut, 'other nodes may have its devices');
  });
});
