import t from 'tap';
import { createConnectionState } from '../../src/core/outbox/connection-state.ts';
import { createDispatching } from '../../src/core/outbox/dispatching.ts';
import {
  claimReleased,
  countAttempt,
  findDue,
  unfinishedOfRollouts,
} from '../../src/core/transactions/due-repository.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createHeldRollouts } from '../../src/runtime/held-rollouts.ts';
import { createWork } from '../../src/runtime/idle.ts';
import { NO_TRACING } from '../../src/runtime/tracing.ts';
import { Watch } from '../../src/runtime/watch.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';
import { createFakeClock } from '../fake-clock.ts';

t.test('a command that is claimed and not written yet is not published when its rollout is held', async (t) => {
  const clock = createFakeClock();
  const held = createHeldRollouts(clock, () => undefined);
  const work = createWork();
  const written: number[] = [];
  const released: string[] = [];
  let made = Promise.withResolvers<object>();
  const link = {
    deviceId: '1',
    epoch: undefined,
    publish: ({ transactionId }: { transactionId: number }) => void written.push(transactionId),
  };
  const connection = createConnectionState(link, 16);
  const { dispatch } = createDispatching({
    clock,
    metrics: createMetrics(),
    watch: new Watch(),
    tracing: NO_TRACING,
    work,
    prepare: () => made.promise,
    held,
    delivered: () => undefined,
    cancelDelivered: () => undefined,
    released: ({ link: { deviceId } }) => void released.push(deviceId),
  });
  const due = {
    applicationId: 'a',
    operation: 'installSoftware',
    parameters: {},
    status: 'queued',
    attempts: 1,
    createdAt: 0,
    updatedAt: 0,
    answerWithin: null,
    expiresAt: null,
    traceparent: null,
  };
  dispatch(connection, { ...due, transactionId: 1, rolloutId: 'held' });
  dispatch(connection, { ...due, transactionId: 2, rolloutId: 'other' });
  dispatch(connection, { ...due, transactionId: 3, rolloutId: null });
  held.hold('held');
  made.resolve({});
  await work.idle();
  t.same(written, [2, 3]);
  t.same(released, ['1'], 'its place in the window is free again');
  held.release('held');
  dispatch(connection, { ...due, transactionId: 4, rolloutId: 'held' });
  await work.idle();
  t.same(written, [2, 3, 4]);

  made = Promise.withResolvers<object>();
  dispatch(connection, { ...due, transactionId: 5, rolloutId: 'held' });
  held.hold('held');
  clock.advance(3_600_000);
  held.hold('other');
  made.resolve({});
  await work.idle();
  t.same(written, [2, 3, 4], 'the object store may be away for long before the parameters are made');

  t.equal(held.isHeld('held'), false, 'a hold is forgotten, since the database is asked for each claim');
});

onBoth(t, async (t, kind) => {
  const database = await openDatabaseOf(kind, t);
  await database.transact(async (unit) => {
    for (const [rolloutId, publishes] of [
      ['held', 0],
      ['going', 1],
    ] as const)
      await unit.run(
        `INSERT INTO rollouts (rollout_id, application_id, operation, selector, plan, state, at_work, publishes, drained, stage,
           approved, devices, entries, created_at) VALUES (?, 'a', 'setWifi', '{}', '{}', 'running', 1, ?, 0, 0, 0, 1, 0, 0)`,
        rolloutId,
        publishes,
      );
    for (const [id, rolloutId, status, attempts, deliveredAt] of [
      [1, 'held', 'queued', 0, null],
      [2, 'held', 'queued', 1, null],
      [3, 'held', 'delivered', 1, 5],
      [4, 'going', 'queued', 0, null],
      [5, null, 'queued', 0, null],
    ] as const)
      await unit.run(
        `INSERT INTO transactions (transaction_id, device_id, application_id, operation, parameters, status, due, attempts,
           created_at, updated_at, delivered_at, rollout_id) VALUES (?, '1', 'a', 'setWifi', '{}', ?, 1, ?, 0, 0, ?, ?)`,
        id,
        status,
        attempts,
        deliveredAt,
        rolloutId,
      );
  });
  await t.test('undelivered commands of a held rollout are passed over, and delivered ones are repeated', async (t) => {
    const refused: number[] = [];
    const found = await database.transact(
      async (unit) => {
        const due = await findDue(unit, '1', 0, 16, 9);
        for (const { transactionId } of due)
          countAttempt(unit, transactionId, 9, () => void refused.push(transactionId));
        return due;
      },
      { device: '1' },
    );
    t.same(refused, [1, 2], 'what is held is not counted, even if it was found before its rollout was held');
    const claimed = found.filter(({ held }) => held !== 1);
    t.same(
      found.filter((due) => !claimed.includes(due)).map(({ transactionId }) => transactionId),
      [1, 2],
      'those that are held are known',
    );
    t.same(
      claimed.map(({ transactionId, attempts, rolloutId }) => [transactionId, attempts, rolloutId]),
      [
        [3, 2, 'held'],
        [4, 1, 'going'],
        [5, 1, null],
      ],
    );
    const rows = await database.read.all<{ attempts: number }>(
      'SELECT attempts FROM transactions ORDER BY transaction_id',
    );
    t.same(
      rows.map(({ attempts }) => attempts),
      [0, 1, 2, 1, 1],
      'only claimed ones count the attempt',
    );
  });

  await t.test('a command that was held is claimed after the release, and not before', async (t) => {
    const claim = (transactionId: number) =>
      database.transact((unit) => claimReleased(unit, '1', transactionId, 9), { device: '1' });
    t.equal(await claim(2), undefined);
    t.same(
      await unfinishedOfRollouts(database.read, '1', 9),
      new Map([
        [1, true],
        [2, true],
        [3, false],
        [4, false],
      ]),
    );
    await database.transact((unit) => unit.run(`UPDATE rollouts SET publishes = 1 WHERE rollout_id = 'held'`));
    t.match(await claim(2), { transactionId: 2, attempts: 2, operation: 'setWifi', parameters: {} });
    t.same(
      await unfinishedOfRollouts(database.read, '1', 2),
      new Map([
        [1, false],
        [2, false],
      ]),
    );
  });
});
