import t from 'tap';
import { listEntries, listEntriesOf } from '../../src/core/audit/audit-repository.ts';
import { listCutConnections, listFacts } from '../../src/core/sessions/connection-log-repository.ts';
import { listPlaces } from '../../src/core/stream/consumer-repository.ts';
import { listAttempts } from '../../src/core/webhooks/log/attempt-repository.ts';
import {
  findApplicationsOf,
  findHeads,
  listDeliveries,
  listPendingOfAll,
} from '../../src/core/webhooks/log/delivery-log-repository.ts';
import type { Sql, SqlValue } from '../../src/platform/database/sql.ts';
import { listEventsOfDevice } from '../../src/views/delivery-repository.ts';
import * as failures from '../../src/views/failures-repository.ts';
import * as figures from '../../src/views/figures-repository.ts';
import * as ownFleet from '../../src/views/own-fleet-repository.ts';
import { countPending } from '../../src/views/receivers-repository.ts';
import { openTestDatabase } from '../applications/tenant.ts';

// The plans of the statements for counts and lists show which rows they read; they are the same for more rows.
t.test('figures, webhooks and the audit log read only the rows that their indexes name', async (t) => {
  const { database } = openTestDatabase(t);
  /** The tables that are read, in order, with the way of reading. */
  const readsOf = async (ask: (sql: Sql) => Promise<unknown>): Promise<string[]> => {
    const steps: string[] = [];
    const explained = async (text: string, values: readonly SqlValue[]): Promise<void> => {
      const plan = await database.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values);
      steps.push(...plan.map(({ detail }) => detail));
    };
    await ask({
      ...database.read,
      all: (text, ...values) => explained(text, values).then(() => database.read.all(text, ...values)),
      get: (text, ...values) => explained(text, values).then(() => database.read.get(text, ...values)),
    });
    return steps.filter((step) => /^(SCAN|SEARCH) \w+ USING/.test(step));
  };

  t.test('devices are counted in an index alone', async (t) => {
    for (const [ask, index] of [
      [figures.countDevices, /^SCAN devices USING COVERING INDEX /],
      [
        (sql: Sql) => figures.countGroups(sql, 'firmware', 9),
        /device_status USING COVERING INDEX device_status_by_firmware/,
      ],
      [
        (sql: Sql) => figures.countGroups(sql, 'battery', 9),
        /device_status USING COVERING INDEX device_status_by_battery/,
      ],
      [
        (sql: Sql) => figures.countGroups(sql, 'package', 9),
        /device_software USING COVERING INDEX device_software_by_version/,
      ],
      [(sql: Sql) => figures.countGroups(sql, 'developer', 9), /devices USING COVERING INDEX devices_by_developer/],
      [(sql: Sql) => figures.countGroups(sql, 'application', 9), /devices USING COVERING INDEX devices_by_application/],
      [
        (sql: Sql) => figures.countVersions(sql, 'p', 9),
        /device_software USING COVERING INDEX device_software_by_version \(package=\?\)/,
      ],
    ] as const) {
      const reads = await readsOf(ask);
      t.equal(reads.length, 1);
      t.match(reads[0], index);
    }
  });

  t.test('waiting work is counted in its own index', async (t) => {
    t.match(await readsOf((sql) => figures.countDueUpTo(sql, 9)), [
      /^SCAN transactions USING COVERING INDEX transactions_due/,
    ]);
    t.match(await readsOf((sql) => figures.countUnfinishedUpTo(sql, 9)), [
      /^SCAN transactions USING INDEX transactions_due/,
    ]);
    for (const ask of [(sql: Sql) => figures.countPendingUpTo(sql, 9), (sql: Sql) => countPending(sql, 9)])
      t.match(await readsOf(ask), [/^SCAN deliveries USING COVERING INDEX deliveries_due/]);
    const pending = await readsOf((sql) => listPendingOfAll(sql, { setting: 'deviceEvent' }, 'm', 9));
    t.match(pending.join('\n'), /SCAN deliveries USING COVERING INDEX deliveries_due/);
    t.match(
      pending.join('\n'),
      /SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1 \(application_id=\? AND delivery_id=\?\)/,
    );
  });

  t.test('webhooks come in the order of their identifiers, also from a time on', async (t) => {
    const own = await readsOf((sql) => listDeliveries(sql, 'a', { since: 1, until: 9, offset: 0, limit: 9 }));
    for (const step of own)
      t.match(
        step,
        /^SEARCH deliveries USING COVERING INDEX \w+ \(application_id=\? AND delivery_id>\? AND delivery_id<\?\)|^SEARCH deliveries USING COVERING INDEX deliveries_unsent \(application_id=\?\)/,
      );
    t.match(
      (await readsOf((sql) => findHeads(sql, 'm'))).join('\n'),
      /SEARCH d USING COVERING INDEX \w+ \(application_id=\? AND delivery_id<\?\)/,
    );
    for (const step of await readsOf((sql) => findApplicationsOf(sql, 'd')))
      t.match(step, /^SEARCH .*\(device_id=\?\)/);
    t.match(await readsOf((sql) => listAttempts(sql, { applicationId: 'a', deliveryId: 'd' })), [
      /^SEARCH delivery_attempts USING INDEX /,
    ]);
  });

  t.test('the audit log is read from its end', async (t) => {
    const reads = await readsOf((sql) => listEntries(sql, { resource: '/', after: 9, offset: 0, limit: 9 }));
    for (const step of reads) t.match(step, /^SEARCH a USING INTEGER PRIMARY KEY/);
  });

  t.test('the history of an object, the events of a device and its connections are read in their order', async (t) => {
    const about = { kind: 'device', id: 'd' } as const;
    const range = { since: 0, until: 9, from: 'a', before: 'z', limit: 9 };
    for (const [ask, index] of [
      [
        (sql: Sql) => listEntries(sql, { about, offset: 0, limit: 9 }),
        /^SEARCH o USING PRIMARY KEY \(kind=\? AND object_id=\?/,
      ],
      [
        (sql: Sql) => listEntriesOf(sql, about, { ...range, after: 9 }),
        /^SEARCH o USING PRIMARY KEY \(kind=\? AND object_id=\? AND audit_id</,
      ],
      [
        (sql: Sql) => listEventsOfDevice(sql, 'd', range),
        /^SEARCH deliveries USING INDEX deliveries_of_events \(device_id=\? AND delivery_id>/,
      ],
      [(sql: Sql) => listFacts(sql, 'd', range), /^SEARCH c USING PRIMARY KEY \(device_id=\? AND fact_id>/],
      [(sql: Sql) => listCutConnections(sql, 'd', 9), /^SEARCH c USING PRIMARY KEY \(device_id=\? AND fact_id=\?\)$/],
    ] as const)
      t.match((await readsOf(ask))[0], index);
  });

  t.test('the fleet of an application is counted from its own rows', async (t) => {
    for (const [ask, reads] of [
      [
        (sql: Sql) => ownFleet.countLevels(sql, ['d']),
        [/^SEARCH device_status USING INDEX sqlite_autoindex_device_status_1 \(device_id=\?\)/],
      ],
      [
        (sql: Sql) => ownFleet.countInstalled(sql, ['d']),
        [/^SEARCH device_software USING PRIMARY KEY \(device_id=\?\)/],
      ],
      [
        (sql: Sql) => ownFleet.countWaiting(sql, 'a'),
        [
          /^SEARCH d USING COVERING INDEX devices_by_application \(application_id=\?\)/,
          /^SEARCH t USING INDEX transactions_due \(device_id=\?\)/,
        ],
      ],
      [
        (sql: Sql) => ownFleet.countFailed(sql, 'a', 9),
        [
          /^SEARCH transactions USING INDEX transactions_failures_of_application \(application_id=\? AND completed_at>\?\)/,
        ],
      ],
    ] as const)
      t.match(await readsOf(ask), reads);
  });

  t.test('the oldest event of each consumer is found by seeks', async (t) => {
    const reads = await readsOf((sql) => listPlaces(sql, { applicationId: 'a', name: 'n' }, 9));
    t.match(reads, [
      /^SEARCH c USING PRIMARY KEY \(\(application_id,name\)>\(\?,\?\)\)/,
      /^SEARCH a USING INDEX \w+ \(application_id=\?\)/,
      /^SEARCH d USING INDEX deliveries_in_order \(application_id=\? AND sequence>\?\)/,
      /^SEARCH e USING PRIMARY KEY \(application_id=\? AND device_id=\?\)/,
    ]);
  });

  t.test('failures are read in the order of time, whatever is wanted of them', async (t) => {
    const place = { at: 9, transactionId: 9 };
    for (const [filter, index] of [
      [{}, /USING (COVERING )?INDEX transactions_failures \(/],
      [{ endedSince: 1, applicationId: 'a', package: 'p' }, /USING (COVERING )?INDEX transactions_failures \(/],
      [{ errorCode: 'X' }, /USING (COVERING )?INDEX transactions_failures_by_code \(error_code=\?/],
      [
        { errorCode: 'X', package: 'p', version: 'v' },
        /USING (COVERING )?INDEX transactions_failures_by_code \(error_code=\?/,
      ],
      [{ package: 'p', version: 'v' }, /USING INDEX transactions_failures_by_subject \(subject=\?/],
    ] as const) {
      const [read = '', ...others] = await readsOf((sql) => failures.examineFailures(sql, filter, place, 9));
      t.match(read, index);
      t.same(others, []);
    }
    for (const by of ['hour', 'version', 'errorCode'] as const)
      for (const filter of [{}, { package: 'p', version: 'v', applicationId: 'a' }]) {
        const [read] = await readsOf((sql) =>
          failures.countEnded(sql, by, { before: 1, since: 2, until: 3, ...filter }, 9),
        );
        t.match(read, /USING COVERING INDEX transactions_ended_installs \(completed_at>/);
      }
  });
});
