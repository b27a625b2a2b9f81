import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { createIssuing } from '../../src/core/rollouts/issuing.ts';
import type { Member } from '../../src/core/rollouts/member-repository.ts';
import type { Rollout } from '../../src/core/rollouts/rollout.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { deviceIdOf } from '../world.ts';

t.test('a rollout makes no command while it leaves room to single calls', async (t) => {
  const { database, clock } = openTestDatabase(t);
  const submitted: string[] = [];
  const duringPauses: number[] = [];
  const issuing = createIssuing({
    database,
    clock,
    ways: { begin: async () => undefined, bodiesOf: async () => undefined },
    statuses: { versionsOf: async () => new Map() },
    submit: async ({ deviceId }) => {
      await turn();
      submitted.push(deviceId);
      return submitted.length;
    },
    async throttle() {
      const before = submitted.length;
      for (let turns = 0; turns < 10; turns += 1) await turn();
      duringPauses.push(submitted.length - before);
    },
  });
  const rollout: Rollout = {
    rolloutId: `rol_${'0'.repeat(32)}`,
    applicationId: 'app',
    label: null,
    operation: 'setLanguage',
    subject: null,
    plan: { developerId: 'dev', stages: [], terms: {} },
    state: 'running',
    reason: null,
    publishes: true,
    drained: false,
    stage: 0,
    stageSince: 0,
    shareSince: null,
    approved: -1,
    devices: 40,
    entries: 40,
    createdAt: 0,
    startedAt: 0,
    endedAt: null,
  };
  const members = Array.from(
    { length: 40 },
    (_, place): Member => ({
      deviceId: deviceIdOf(place + 1),
      stage: 0,
      place,
      state: 'waiting',
      transactionId: null,
      attempts: 0,
      code: null,
      notBefore: 0,
      updatedAt: 0,
    }),
  );
  await issuing.issue(rollout, { lang: 'ja' }, members);
  t.equal(submitted.length, 40);
  t.ok(duringPauses.length > 1);
  t.same(new Set(duringPauses), new Set([0]));
});
