import t from 'tap';
import {
  findWaiting,
  listActionsOf,
  listDevicesOf,
  waitingAmong,
} from '../../src/core/device-actions/action-repository.ts';
import { findGiven, givenAmong, latestOf, replacedAmong } from '../../src/core/rollouts/given-repository.ts';
import type { Rollout } from '../../src/core/rollouts/rollout.ts';
import { supersededAmong } from '../../src/core/rollouts/superseding.ts';
import { type FleetFilter, fleetPlaces } from '../../src/core/selection/fleet-repository.ts';
import type { Sql, SqlValue } from '../../src/platform/database/sql.ts';
import { findApplicationOfDelivery } from '../../src/views/delivery-repository.ts';
import { fleetRows } from '../../src/views/devices-repository.ts';
import { countInstallations, listInstallations } from '../../src/views/installations-repository.ts';
import {
  firstFrom,
  transactionsBetween,
  transactionsOfDevice,
  transactionsOfRollout,
  unfinishedTransactions,
} from '../../src/views/transactions-repository.ts';
import { openTestDatabase } from '../applications/tenant.ts';

// The plans of the lists' statements show which rows they read; they are the same for more rows.
t.test('lists of a whole fleet read only the rows that their indexes name', async (t) => {
  const { database } = openTestDatabase(t);
  await database.transact(async (unit) => {
    await unit.run(
      `INSERT INTO transactions (device_id, application_id, operation, status, due, attempts, created_at, updated_at)
       VALUES ('d', 'a', 'setWifi', 'succeeded', 0, 0, 0, 0)`,
    );
  });
  const plansOf = async (ask: (sql: Sql) => Promise<unknown>): Promise<string[]> => {
    const plans: string[] = [];
    const explained = async (text: string, values: readonly SqlValue[]): Promise<void> => {
      const steps = await database.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values);
      plans.push(...steps.map(({ detail }) => detail));
    };
    await ask({
      ...database.read,
      all: (text, ...values) => explained(text, values).then(() => database.read.all(text, ...values)),
      get: (text, ...values) => explained(text, values).then(() => database.read.get(text, ...values)),
    });
    return plans;
  };
  const places = (filter: Partial<FleetFilter>, order: 'deviceId' | '-lastSeen' = 'deviceId', after = true) =>
    plansOf((sql) =>
      fleetPlaces(sql, {
        filter: { terms: {}, ...filter },
        order,
        after: after ? { deviceId: '3', seenAt: 1 } : undefined,
        limit: 9,
      }),
    );
  const sorted = (plans: readonly string[]): string[] => plans.filter((step) => step.startsWith('USE TEMP B-TREE'));

  t.test('the devices of a device action are found by its indexes, however many wait', async (t) => {
    const page = { since: 0, until: 9, before: '~', limit: 9 };
    for (const [ask, index] of [
      [(sql) => findWaiting(sql, 'a', 9), /device_action_devices_by_state \(action_id=\? AND state=\? AND code=\?\)/],
      [(sql) => waitingAmong(sql, 'a', ['1']), /PRIMARY KEY \(action_id=\? AND device_id=\?\)/],
      [(sql) => listDevicesOf(sql, 'a', { limit: 9 }), /PRIMARY KEY \(action_id=\? AND device_id>\?\)/],
      [(sql) => listActionsOf(sql, '1', page), /device_action_devices_by_device \(device_id=\? AND action_id<\?\)/],
    ] as [(sql: Sql) => Promise<unknown>, RegExp][]) {
      const plans = await plansOf(ask);
      t.match(plans[0], index);
      t.same(sorted(plans), []);
    }
  });

  t.test(
    'devices come in the order of an index: nothing is sorted, and the last page costs as much as the first',
    async (t) => {
      for (const [filter, index] of [
        [{}, /^SEARCH d USING COVERING INDEX sqlite_autoindex_devices_1 \(device_id>\?\)/],
        [{ prefix: '3' }, /^SEARCH d USING COVERING INDEX sqlite_autoindex_devices_1 \(device_id>\?/],
        [
          { developerId: 'd' },
          /^SEARCH d USING COVERING INDEX devices_by_developer \(developer_id=\? AND device_id>\?\)/,
        ],
        [
          { applicationId: 'a' },
          /^SEARCH d USING .*INDEX devices_by_application \(application_id=\? AND device_id>\?\)/,
        ],
        [
          { applicationId: 'a', terms: { tags: [{ key: 'site', values: ['osaka'] }] } },
          /^SEARCH t USING .*INDEX device_tags_by_value \(application_id=\? AND tag_key=\? AND tag_value=\? AND device_id>\?\)/,
        ],
      ] as const) {
        const plans = await places(filter);
        t.match(plans[0], index);
        t.same(sorted(plans), [], JSON.stringify(filter));
        for (const step of plans.slice(1)) t.match(step, /^SEARCH [dp] USING .*INDEX .*device_id=\?\)/);
      }
    },
  );

  t.test('the devices of a rollout, and what they got after it, are found by indexes', async (t) => {
    const terms = { member: { rolloutId: 'r', state: 'failed' }, charging: true, storageFreeAtLeast: 1 };
    const plans = await places({ applicationId: 'a', terms });
    t.match(plans[0], /^SEARCH d USING .*INDEX devices_by_application \(application_id=\? AND device_id>\?\)/);
    t.match(plans.join('\n'), /SEARCH m USING PRIMARY KEY \(rollout_id=\? AND device_id=\?\)/);
    t.match(plans.join('\n'), /SEARCH s USING .*INDEX .*\(device_id=\?\)/);
    t.same(sorted(plans), []);
    t.match(await plansOf((sql) => findGiven(sql, 'r', '3', 9)), [
      /^SEARCH m USING PRIMARY KEY \(rollout_id=\? AND device_id>\?\)/,
      /^SEARCH t USING INTEGER PRIMARY KEY/,
    ]);
    const kind = { operation: 'installSoftware', subject: 'p@1', createdAt: 1_000 } as const;
    const rollout = { rolloutId: 'r', applicationId: 'a', ...kind } as Rollout;
    t.match(
      await plansOf((sql) => supersededAmong(sql, rollout, ['1'])),
      [/^SEARCH rollouts USING INDEX rollouts_by_application \(application_id=\? AND rollout_id>\?\)/],
      'newer rollouts only',
    );
    const later = await plansOf((sql) => replacedAmong(sql, rollout, ['1'], undefined));
    t.match(
      later.join('\n'),
      /SEARCH t USING INDEX transactions_done \(device_id=\? AND application_id=\? AND transaction_id>\?/,
    );
    t.match(later.join('\n'), /SEARCH t USING INDEX transactions_due \(device_id=\? AND transaction_id>\?/);
    for (const step of later) t.notMatch(step, /^SCAN/);
    const waiting = {
      deviceId: '1',
      state: 'waiting',
      status: null,
      attempts: null,
      deliveredAt: null,
      late: null,
    } as const;
    for (const plans of [
      await plansOf((sql) => givenAmong(sql, rollout, [waiting], false)),
      await plansOf((sql) => latestOf(sql, rollout, '1')),
    ]) {
      t.match(plans.join('\n'), /SEARCH transactions USING .*transactions_done \(device_id=\? AND application_id=\?\)/);
      t.match(plans.join('\n'), /SEARCH transactions USING .*transactions_due \(device_id=\?\)/);
    }
  });

  t.test('a rare value is found by its own index', async (t) => {
    t.match(await places({ terms: { firmwareVersion: { is: '9' } } }), [/device_status_by_firmware \(firmware=\?/]);
    t.match(await places({ terms: { package: 'p', version: { is: '1' } } }), [
      /device_software_by_version \(package=\? AND version=\?/,
    ]);
    const byTime = await places({}, '-lastSeen');
    t.equal(sorted(byTime).length, 1, 'by time they are sorted: for a thread of its own');
  });

  t.test('the devices of a page are read by their identifiers', async (t) => {
    const plans = await plansOf((sql) => fleetRows(sql, ['1', '2']));
    for (const step of plans.filter((one) => !/SUBQUERY|LIST/.test(one))) t.match(step, /^SEARCH \w+ USING/);
    t.match(plans.join('\n'), /SEARCH t USING .*transactions_due \(device_id=\?\)/);
  });

  t.test('unfinished transactions come from the index of due ones, however many have ended', async (t) => {
    for (const [filter, page] of [
      [{}, { limit: 9, newestFirst: false }],
      [{}, { limit: 9, after: 5, newestFirst: false }],
      [
        { applicationId: 'a', createdBefore: 9 },
        { limit: 9, newestFirst: true },
      ],
    ] as const) {
      const plans = await plansOf((sql) => unfinishedTransactions(sql, filter, page));
      t.match(
        plans.filter((step) => step.startsWith('SCAN')),
        [/^SCAN transactions USING .*INDEX transactions_due$/],
      );
      for (const step of plans.filter((one) => one.startsWith('SCAN'))) t.match(step, /transactions_due/);
    }
    const own = await plansOf((sql) =>
      unfinishedTransactions(sql, { deviceId: 'd' }, { limit: 9, newestFirst: false }),
    );
    t.match(own.join('\n'), /SEARCH transactions USING .*transactions_due \(device_id=\?\)/);
  });

  t.test('all transactions come in the order of their numbers, those of a device by its indexes', async (t) => {
    const between = { from: 1, before: 9, limit: 9 };
    for (const oldestFirst of [false, true]) {
      const page = { ...between, oldestFirst };
      const plans = await plansOf((sql) => transactionsBetween(sql, { applicationId: 'a', status: 'failed' }, page));
      t.same(plans, ['SEARCH transactions USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'], 'without a sort');
      const next = { offset: 0, limit: 9, after: 5, oldestFirst };
      const ofDevice = await plansOf((sql) => transactionsOfDevice(sql, 'd', {}, next));
      for (const step of ofDevice.filter((one) => /transactions/.test(one)))
        t.match(step, /^SEARCH transactions USING .*INDEX transactions_(due|done) \(device_id=\?/);
      const rows = { limit: 9, after: 5, unfinished: false, oldestFirst };
      t.same(await plansOf((sql) => transactionsOfRollout(sql, { rolloutId: 'r' }, rows)), [
        `SEARCH transactions USING INDEX transactions_by_rollout (rollout_id=? AND transaction_id${oldestFirst ? '>' : '<'}?)`,
      ]);
    }
    t.same(await plansOf((sql) => firstFrom(sql, 5)), ['SEARCH transactions USING INTEGER PRIMARY KEY (rowid>?)']);
  });

  t.test('the devices that have a version, wait for it, or failed at it', async (t) => {
    const name = { line: 'software', package: 'p' } as const;
    const page = { applicationId: undefined, after: '', limit: 9 };
    for (const [state, index] of [
      ['installed', /SEARCH x USING COVERING INDEX device_software_by_version \(package=\?/],
      ['waiting', /SCAN x USING INDEX transactions_due/],
      ['failed', /SEARCH x USING INDEX transactions_(failed_installs|failures_by_subject) \(subject[=>]\?/],
    ] as const) {
      t.match((await plansOf((sql) => countInstallations(sql, state, name, undefined))).join('\n'), index);
      if (state === 'waiting') continue;
      const list = await plansOf((sql) => listInstallations(sql, state, { ...name, version: '1' }, page));
      t.match(list[0], /\(package=\? AND version=\? AND device_id>\?\)|\(subject=\? AND device_id>\?\)/);
      t.same(sorted(list), []);
    }
  });

  t.test('a delivery is found by its identifier alone, application by application', async (t) => {
    const plans = await plansOf((sql) => findApplicationOfDelivery(sql, 'msg'));
    t.match(plans.join('\n'), /SEARCH deliveries USING COVERING INDEX .*\(application_id=\? AND delivery_id=\?\)/);
  });
});
