import { renameSync } from 'node:fs';
import t from 'tap';
import { usualDatabase } from '../postgres/databases.ts';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';

interface Family {
  type: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

/** Metric families by name, from Prometheus' text format. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  for (const line of text.split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (comment) {
      const [, kind, name = '', rest = ''] = comment;
      const family = families.get(name) ?? { type: '', help: '', samples: [] };
      if (kind === 'HELP') family.help = rest;
      else family.type = rest;
      families.set(name, family);
      continue;
    }
    const sample = /^([^{ ]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!sample) continue;
    const [, name = '', labels = '', value] = sample;
    const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
    if (!family) throw new Error(`a sample without its family: ${line}`);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
    family.samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return families;
}

const readMetrics = async (world: World): Promise<string> => (await world.anonymousAdmin().get('/metrics')).body;

/** The sum of the samples of a name that have these labels. */
function sumOf(text: string, name: string, labels: Record<string, string> = {}): number {
  const samples = [...parse(text).values()].flatMap((family) => family.samples);
  const matches = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  return matches.reduce((sum, { value }) => sum + value, 0);
}

const sampleOf = async (world: World, name: string, labels?: Record<string, string>): Promise<number> =>
  sumOf(await readMetrics(world), name, labels);

t.test('metrics after a whole life of a device', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { link, deviceId, path } = device;
  const put = async () => transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
  const answered = await put();
  link.puback((await link.command()).packet);
  await link.ack({ transactionId: answered, status: 'failed' });
  t.equal((await tenant.event()).type, 'transaction.failed');
  await world.idle();
  tenant.receiver.answer({ status: 500 });
  const cancelled = await put();
  await link.command();
  await tenant.api.delete(`${path}/transactions/${cancelled}`);
  link.publish('acks', '{');
  await link.next('puback');
  await (await world.open({ deviceId, credential: 'wrong' })).login();
  await tenant.api.get('/nowhere/490154203237518');
  await tenant.api.get(`${path}/transactions/x`);
  await world.idle();

  t.test('every family follows the rules of Prometheus for names, units, types and help', async (t) => {
    const families = parse(await readMetrics(world));
    t.ok(families.size >= 15);
    const problems: string[] = [];
    for (const [name, { type, help, samples }] of families) {
      const rules: [boolean, string][] = [
        [/^lapel_[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name), 'is not in snake case under lapel_'],
        [help.length > 5, 'has no help'],
        [['counter', 'gauge', 'histogram'].includes(type), `has the type ${type}`],
        [name.endsWith('_total') === (type === 'counter'), 'counters, and only they, end in _total'],
        [!/_(bucket|sum|count|info)$/.test(name) || name === 'lapel_build_info', 'has a reserved suffix'],
        [type !== 'histogram' || name.endsWith('_seconds'), 'has no base unit at its end'],
        [!/(milli|micro|_ms|_us|minutes|hours|kilo|_kb|_mb|percent)/.test(name), 'has no base unit'],
        [!/(counter|gauge|histogram|summary)/.test(name), 'names its type'],
      ];
      problems.push(...rules.filter(([kept]) => !kept).map(([, what]) => `${name} ${what}`));
      for (const { labels } of samples) {
        for (const label of Object.keys(labels)) {
          if (!/^[a-z][a-z_]*$/.test(label)) problems.push(`${name} has the label ${label}`);
          if (label === 'le' && type !== 'histogram') problems.push(`${name} uses le`);
        }
      }
    }
    t.same(problems, []);
  });

  t.test(
    'no label holds an identifier: neither device, application, transaction nor a path of a request',
    async (t) => {
      const text = await readMetrics(world);
      for (const word of [deviceId, tenant.applicationId, '490154203237518', '/nowhere', 'dev-app'])
        t.notMatch(text, word);
      const labels = new Set(
        [...parse(text).values()].flatMap(({ samples }) => samples.flatMap((one) => Object.keys(one.labels))),
      );
      t.same(
        [...labels].sort(),
        [
          'bound',
          'file',
          'kind',
          'le',
          'listener',
          'method',
          'node',
          'operation',
          'outcome',
          'part',
          'reason',
          'route',
          'state',
          'status',
          'step',
          'topic',
          'type',
          'version',
          'way',
        ].filter((name) => labels.has(name)),
      );
      const values = [...parse(text).values()].flatMap(({ samples }) =>
        samples.flatMap((one) => Object.values(one.labels)),
      );
      t.notOk(
        values.some((value) => /\d{6,}/.test(value)),
        'no long number in any of them',
      );
    },
  );

  t.test('each event is counted once', async (t) => {
    const expected: [name: string, labels: Record<string, string>, value: number][] = [
      ['lapel_transactions_created_total', { operation: 'activate' }, 1],
      ['lapel_transactions_created_total', { operation: 'setWifi' }, 2],
      ['lapel_transactions_finished_total', { operation: 'activate', status: 'succeeded' }, 1],
      ['lapel_transactions_finished_total', { operation: 'setWifi', status: 'failed' }, 1],
      ['lapel_transactions_finished_total', { operation: 'setWifi', status: 'cancelled' }, 1],
      ['lapel_commands_published_total', { kind: 'first' }, 3],
      ['lapel_commands_published_total', { kind: 'cancel' }, 1],
      ['lapel_commands_published_total', { kind: 'repeat' }, 0],
      ['lapel_commands_in_flight', {}, 2],
      ['lapel_devices_connected', {}, 1],
      ['lapel_mqtt_messages_total', { topic: 'acks' }, 3],
      ['lapel_mqtt_rejected_messages_total', { topic: 'acks' }, 1],
      ['lapel_mqtt_refused_total', { reason: 'credentials' }, 1],
      ['lapel_webhook_deliveries_total', {}, 3],
      ['lapel_webhook_attempts_total', { outcome: 'delivered' }, 2],
      ['lapel_webhook_attempts_total', { outcome: 'retry' }, 1],
      ['lapel_webhook_attempt_duration_seconds_count', {}, 3],
      ['lapel_tokens_issued_total', {}, 1],
      ['lapel_http_requests_total', { listener: 'api', route: 'unknown', status: '403' }, 1],
      [
        'lapel_http_requests_total',
        {
          listener: 'api',
          method: 'POST',
          status: '201',
          route: '/v1/applications/{applicationId}/devices/{deviceId}',
        },
        1,
      ],
      [
        'lapel_http_request_duration_seconds_count',
        { listener: 'api', route: '/v1/applications/{applicationId}/devices/{deviceId}/settings/wifi' },
        2,
      ],
      ['lapel_database_units_total', { outcome: 'rolled_back' }, 0],
    ];
    const text = await readMetrics(world);
    for (const [name, labels, value] of expected)
      t.equal(sumOf(text, name, labels), value, `${name} ${JSON.stringify(labels)}`);
    t.ok(sumOf(text, 'lapel_database_units_total', { outcome: 'committed' }) > 5);
    t.ok(sumOf(text, 'lapel_database_commit_duration_seconds_count') > 5);
  });

  t.test('gauges fall back to 0 when the device is gone', async (t) => {
    await link.drop();
    while ((await sampleOf(world, 'lapel_devices_connected')) > 0) await world.idle();
    t.equal(await sampleOf(world, 'lapel_commands_in_flight'), 0);
    const again = await world.connect(device);
    again.puback((await again.command()).packet);
    again.publish('status', {});
    await again.next('puback');
    await world.idle();
    t.equal(await sampleOf(world, 'lapel_commands_published_total', { kind: 'cancel' }), 2);
    t.equal(await sampleOf(world, 'lapel_commands_in_flight'), 0);
    t.equal(await sampleOf(world, 'lapel_devices_connected'), 1);
  });

  t.test('two services in one process have metrics of their own', async (t) => {
    const other = await startWorld(t, { dataDir: t.testdir() });
    t.equal(await sampleOf(other, 'lapel_transactions_created_total'), 0);
  });
});

t.test('metrics show waiting work, its age, and the sizes', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await device.link.drop();
  await world.idle();
  world.clock.advance(10_000);
  t.equal(await sampleOf(world, 'lapel_commands_due'), 0);
  t.equal(await sampleOf(world, 'lapel_commands_oldest_due_seconds'), 0);
  t.equal(await sampleOf(world, 'lapel_webhook_pending'), 0);

  tenant.receiver.answer({ status: 500 });
  const put = async () => transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const ids = [await put(), await put(), await put()];
  const json = { package: 'com.example.camera', version: '1.0.0', fileSize: 5000 };
  const { body } = await tenant.api.post(`${tenant.path}/apps`, { json });
  await fetch(body.urlList[0].uploadUrl, { method: 'PUT', body: 'x'.repeat(5000) });
  await tenant.api.delete(`${device.path}/transactions/${ids[0]}`);
  await world.idle();
  tenant.receiver.answer({ hang: true }); // the next attempt does not end, so the metrics show when it was due
  world.clock.advance(700_000);
  const text = await readMetrics(world);
  t.equal(sumOf(text, 'lapel_commands_due'), 2, 'the cancelled one was never published, so no device must hear of it');
  t.equal(sumOf(text, 'lapel_commands_oldest_due_seconds'), 700);
  t.equal(sumOf(text, 'lapel_webhook_pending'), 1);
  t.ok(sumOf(text, 'lapel_webhook_oldest_due_seconds') > 600, 'it was tried once; the next attempt is due since');
  t.ok(sumOf(text, 'lapel_objects_stored_bytes') > 5000);
  t.ok(sumOf(text, 'lapel_disk_free_bytes') > 0);
  t.ok(sumOf(text, 'lapel_disk_size_bytes') > sumOf(text, 'lapel_disk_free_bytes'));
  t.equal(sumOf(text, 'lapel_webhook_receivers_failing'), 1);
  t.ok(sumOf(text, 'lapel_mqtt_connections_limit') >= 1);
  t.equal(sumOf(text, 'lapel_clock_timestamp_seconds'), world.clock.now() / 1_000_000, 'the clock of the service');
  t.equal(sumOf(text, 'lapel_build_info'), 1);
  t.match(text, /lapel_build_info\{version="\d+\.\d+\.\d+",node="v24\./);
});

t.test('metrics show the size of the write-ahead log, which a server does not tell', async (t) => {
  const world = await startWorld(t);
  let size = 0;
  // The log is emptied some seconds after a commit. On a busy machine they may pass before the metrics are read.
  for (let tries = 0; size <= 10_000 && tries < (usualDatabase === 'sqlite' ? 20 : 1); tries += 1) {
    await world.createTenant();
    world.clock.advance(10_000); // the size is looked up again
    size = sumOf(await readMetrics(world), 'lapel_database_bytes', { file: 'wal' });
  }
  t.equal(size > 10_000, usualDatabase === 'sqlite');
});

t.test('the disk of the data folder is told with an external object store as well', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_S3_ENDPOINT: 'http://127.0.0.1:9' } });
  const text = await readMetrics(world);
  t.ok(sumOf(text, 'lapel_disk_free_bytes') > 0);
  t.ok(sumOf(text, 'lapel_disk_size_bytes') > 0);
});

t.test('metrics tell a device that is connected and silent from one that is offline', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const age = async (): Promise<number[]> => {
    world.clock.advance(100_000);
    const text = await readMetrics(world);
    return [sumOf(text, 'lapel_commands_oldest_in_flight_seconds'), sumOf(text, 'lapel_commands_oldest_due_seconds')];
  };
  t.same(await age(), [0, 0]);
  await tenant.api.put(`${path}/settings/wifi`, { json: WIFI });
  const first = await link.command();
  t.same(await age(), [100, 100]);
  await tenant.api.put(`${path}/settings/wifi`, { json: WIFI });
  const second = await link.command();
  t.same(await age(), [200, 200], 'the oldest one counts');
  link.puback(first.packet);
  await world.idle();
  t.same(await age(), [200, 300], 'the device has received the first one, and still has to answer it');
  await link.ack({ transactionId: second.transactionId, status: 'failed' });
  t.same(await age(), [0, 400], 'an answer counts as its PUBACK');
  await tenant.api.put(`${path}/settings/wifi`, { json: WIFI });
  await link.command();
  await link.drop();
  while ((await sampleOf(world, 'lapel_devices_connected')) > 0) await world.idle();
  t.same(await age(), [0, 500], 'an offline device holds nothing in flight');
});

t.test('metrics say which parts are ready, as the probe does', async (t) => {
  const world = await startWorld(t);
  const ready = async (part: string): Promise<number> => sampleOf(world, 'lapel_ready', { part });
  for (const part of ['service', 'database', 'files', 'api', 'administration']) t.equal(await ready(part), 1, part);
  const { dataDir } = world;
  renameSync(dataDir, `${dataDir}-away`);
  t.teardown(() => renameSync(`${dataDir}-away`, dataDir));
  t.equal((await world.anonymousAdmin().get('/readyz')).status, 503);
  t.same([await ready('files'), await ready('api')], [0, 1]);
});
