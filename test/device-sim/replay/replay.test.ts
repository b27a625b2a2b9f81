import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { hasHeld, replayText } from '@lapel/device-sim/replay/replay-text';
import { runReplay } from '@lapel/device-sim/replay/run-replay';
import { run } from '@lapel/device-sim/run';
import { faultInReport } from '@lapel/device-sim/scenario/read-report';
import { HIDDEN, isSecretName } from '@lapel/schemas/base/secret-names';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { startWorld, type World } from '../../world.ts';
import { startScriptedService } from '../mqtt/scripted-service.ts';

const SCENARIO = `
name: recorded
devices: 3
groups:
  - name: all
    behaviour: { processing: true, fileSize: 2 KiB }
phases:
  - name: work
    duration: 1s
    actions:
      - { do: setWifi, each: 2 }
      - { do: setApn, each: 1 }
      - { do: setLanguage, each: 1 }
      - { do: setBluetooth, each: 1 }
      - { do: pairBluetooth, each: 1 }
      - { do: install, each: 1, release: { version: 1.4.0 } }
      - { do: pressButton, each: 2 }
      - { do: uploadFile, each: 1 }
  - name: gap
    duration: 200ms
    disconnect: { share: 1 }
  - name: back
    duration: 500ms
    connect: {}
    actions: [{ do: pressButton, each: 1 }]
expectations: [lost == 0, eventsLost == 0]
`;

const never = new AbortController().signal;
const quiet = { write: () => {} };

const addressesOf = ({ service }: World): string[] => {
  const { admin, http, mqtt } = service.addresses;
  return ['--mqtt', mqtt, '--api', http, '--admin', admin, '--admin-token', service.adminToken];
};

async function replay(args: readonly string[], stopped = never) {
  const command = readCommandLine(['replay', ...args], {});
  if (command.do !== 'replay') throw new Error('this is no replay');
  return runReplay(command.settings, stopped);
}

interface Line {
  kind: string;
  topic?: string;
  payload?: Record<string, unknown>;
}
const linesOf = (file: string): Line[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

/** All values of members with secret names, at any depth. */
function secretsIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => (isSecretName(name) ? [member] : secretsIn(member)));
}

/** The statuses of the devices as the service has them, without the times and what changes by itself. */
async function statusesOf(world: World, developer: string): Promise<unknown[]> {
  const { body } = await world.admin().get(`/admin/v1/developers/${developer}/devices`);
  const rows = (body.devices as { deviceId: string }[]).map(async ({ deviceId }) => {
    const { fields, software } = (await world.admin().get(`/admin/v1/devices/${deviceId}/status`)).body as {
      fields: { name: string; value: object }[];
      software: { package: string; version: string; state: string }[];
    };
    const of = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
    const { lang, firmwareVersion, bluetooth, network } = of;
    const installed = software.map(({ package: name, version, state }) => ({ name, version, state }));
    return { lang, firmwareVersion, bluetooth, network: { ...network, rssi: 0 }, installed };
  });
  return Promise.all(rows);
}

t.test('a run is recorded without secrets, and its devices are played again ten times as fast', async (t) => {
  const folder = t.testdir({ 'scenario.yaml': SCENARIO });
  const world = await startWorld(t, { clock: createFakeClock(Date.now() * 1000), dataDir: join(folder, 'data') });
  const file = join(folder, 'traffic.ndjson');
  const args = ['run', join(folder, 'scenario.yaml'), '--developer', 'first', '--record', file];
  const command = readCommandLine([...args, ...addressesOf(world)], {});
  if (command.do !== 'run') throw new Error('this is no run');
  const { record, notes } = await run(command.settings, { stopped: never, stream: quiet });
  t.match(record.verdicts, [{ holds: true }, { holds: true }]);
  t.equal(faultInReport(JSON.parse(JSON.stringify(record))), undefined, 'its report obeys the schema');
  const [head, ...lines] = linesOf(file);
  t.match(head, { record: 'device traffic', version: 1, run: 'recorded' });
  t.match(notes, [/^\d+ messages of devices are in .*traffic\.ndjson$/]);
  const messages = (kind: string, topic: string): Line[] =>
    lines.filter((line) => line.kind === kind && line.topic === topic);

  await t.test('the record has each message of the devices, and no secret', async (t) => {
    const { figures, fleet } = record.chapters[0]!;
    t.equal(messages('received', 'commands').length, fleet.commands);
    t.equal(messages('sent', 'events').length, figures?.eventsTold);
    t.equal(lines.filter(({ kind }) => kind === 'connected').length, 6);
    t.equal(lines.filter(({ kind }) => kind === 'disconnected').length, 6);
    const secrets = secretsIn(lines).filter((value) => value !== null);
    t.ok(secrets.length >= 6, 'there were Wi-Fi passwords');
    for (const value of secrets) t.equal(value, HIDDEN);
    const text = readFileSync(file, 'utf8');
    t.notMatch(text, /[?&]X-Amz-|whsec_|eyJ/, 'no signature of a URL, no key, no token');
    const urls = [...text.matchAll(/"https?:[^"]*\?([^"]*)"/g)].map(([, query]) => query);
    t.ok(urls.length > 0, 'there were URLs with signatures');
    for (const query of urls) t.equal(query, HIDDEN);
  });

  await t.test('the service ends with the same states and the same number of events', async (t) => {
    const again = await replay([file, '--faster', '10', '--developer', 'second', ...addressesOf(world)]);
    t.match(again, {
      devices: 3,
      events: messages('sent', 'events').length,
      webhooks: messages('sent', 'events').length,
      statuses: messages('sent', 'status').length,
      connectFailures: 0,
      violations: 0,
      complaints: 0,
      troubles: [],
      isFull: false,
    });
    t.ok(hasHeld(again));
    t.match(replayText(again), /^OK {2}.*traffic\.ndjson: 3 devices, .* 10 times as fast\n/);
    const before = await statusesOf(world, 'first');
    t.match(before, [
      { lang: String, installed: [{ version: '1.4.0', state: 'installed' }], network: { type: 'wifi' } },
    ]);
    t.strictSame(await statusesOf(world, 'second'), before);
  });

  await t.test('a record has a greatest size', async (t) => {
    // The record itself ends in the middle here, as it does at its greatest size.
    const short = join(folder, 'short.ndjson');
    const text = readFileSync(file, 'utf8').split('\n').slice(0, 10).join('\n');
    writeFileSync(short, `${text}\n${JSON.stringify({ at: 9, kind: 'full' })}\n`);
    const again = await replay([
      short,
      '--faster',
      '10',
      '--seed',
      '2',
      '--developer',
      'third',
      '--clean',
      ...addressesOf(world),
    ]);
    t.equal(again.isFull, true);
    t.match(replayText(again), /The record ended at its greatest size/);
    t.strictSame(await statusesOf(world, 'third'), [], '--clean removes the devices');
  });
});

t.test('devices answer the commands of an application as the record says', async (t) => {
  const folder = t.testdir();
  const world = await startWorld(t, { dataDir: join(folder, 'data') });
  const tenant = await world.createTenant();
  const { deviceId, credential, path, link } = await world.activatedDevice(tenant);
  link.socket.destroy();
  const device = '350000000000006';
  const command = (at: number, transactionId: number, operation: string) => ({
    at,
    device,
    kind: 'received',
    topic: 'commands',
    payload: { transactionId, operation, parameters: {}, issuedAt: '2026-11-20T09:30:00.123456Z', attempt: 1 },
  });
  const ack = (at: number, payload: object) => ({ at, device, kind: 'sent', topic: 'acks', payload });
  const error = { code: 'STORAGE_FULL', message: 'no room' };
  const event = { eventId: 'e', type: 'custom.x', occurredAt: '2026-11-20T09:29:59.000000Z', data: { n: 1 } };
  const lines = [
    { record: 'device traffic', version: 1, run: 'r', startedAt: '2026-11-20T09:30:00.000Z' },
    { at: 0, device, kind: 'connected' },
    command(5, 90, 'setLanguage'),
    ack(6, { transactionId: 90, status: 'processing', progress: 40 }),
    ack(7, { transactionId: 90, status: 'failed', error }),
    ack(8, { transactionId: 90, status: 'failed', error }),
    command(9, 91, 'setLanguage'),
    ack(9, { transactionId: 91, status: 'succeeded' }),
    command(9, 92, 'setApn'),
    { at: 20, device, kind: 'sent', topic: 'events', payload: event },
    { at: 20, device, kind: 'sent', topic: 'events' },
    { at: 3_600_000, device, kind: 'disconnected', how: 'cut' },
  ];
  writeFileSync(join(folder, 'record.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  writeFileSync(join(folder, 'devices.ndjson'), `${JSON.stringify({ deviceId, credential })}\n`);
  for (const lang of ['de', 'fr']) await tenant.api.put(`${path}/settings/lang`, { json: { lang } });
  await tenant.api.put(`${path}/settings/apn`, { json: [{ name: 'a', apn: 'b' }] });
  await tenant.api.put(`${path}/settings/wifi`, { json: [] });
  const over = new AbortController();
  const { applicationId, secret } = tenant;
  const args = ['--devices', join(folder, 'devices.ndjson'), '--application', applicationId, '--secret', secret];
  const played = replay([join(folder, 'record.ndjson'), ...args, ...addressesOf(world)], over.signal);
  const said = [await tenant.event(), await tenant.event(), await tenant.event(), await tenant.event()];
  await world.idle(); // the webhook of the event may be faster than its PUBACK
  over.abort();
  const record = await played;
  t.match(record, { devices: 1, events: 1, webhooks: null, violations: 0, unknown: 1, troubles: [], isStopped: true });
  t.match(replayText(record), /^NOT RUN {2}.*stopped before its end/s);
  const of = (operation: string) =>
    said
      .map(({ data }) => data.transaction)
      .filter((transaction) => transaction?.['operation'] === operation)
      .sort((one, other) => Number(one['transactionId']) - Number(other['transactionId']));
  t.match(of('setLanguage'), [{ status: 'failed', error, progress: 40 }, { status: 'succeeded' }]);
  t.match(of('setWifi'), [{ status: 'failed', error: { code: 'UNSUPPORTED', message: 'the record has no setWifi' } }]);
  t.strictSame(of('setApn'), [], 'the record has no answer');
  const { timestamp, data } = said.find(({ type }) => type === 'custom.x') as (typeof said)[number];
  t.match(data, { n: 1 });
  t.ok(timestamp > '2026-11-21', 'the event happens at the time of the replay');
});

t.test(
  'messages that the service does not acknowledge are reported, except those of a connection that was cut',
  async (t) => {
    const head = { record: 'device traffic', version: 1, run: 'r', startedAt: '2026-11-20T09:30:00.000Z' };
    const device = '350000000000006';
    const file = join(t.testdir(), 'record.ndjson');
    writeFileSync(`${file}.devices`, `${JSON.stringify({ deviceId: device, credential: 'x' })}\n`);
    await using service = await startScriptedService();
    for (const how of ['politely', 'cut']) {
      const lines = [
        head,
        { at: 0, device, kind: 'connected' },
        { at: 1, device, kind: 'sent', topic: 'status', payload: { battery: { level: 50 } } },
        { at: 1, device, kind: 'sent', topic: 'status', payload: { battery: { level: 49 } } },
        { at: 2, device, kind: 'disconnected', how },
      ];
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const played = replay([file, '--mqtt', service.url, '--devices', `${file}.devices`]);
      await service.connection(); // only shows that the service is there
      const connection = await service.login();
      const { messageId } = await connection.next('publish');
      connection.send({ cmd: 'puback', messageId });
      const record = await played;
      const unconfirmed = how === 'cut' ? 0 : 1;
      t.match(record, { connections: 1, violations: 0, connectFailures: 0, unconfirmed }, how);
      t.equal(hasHeld(record), how === 'cut');
      if (how !== 'cut')
        t.match(replayText(record), /^NOT OK .*Messages of devices that were never acknowledged: 1\n/s);
    }
  },
);

t.test('a wrong record or option is refused by its name', async (t) => {
  const head = JSON.stringify({
    record: 'device traffic',
    version: 1,
    run: 'r',
    startedAt: '2026-11-20T09:30:00.000Z',
  });
  const folder = t.testdir({
    'text.ndjson': 'hello\n',
    'kind.ndjson': `${head}\n{"at":1,"device":"a","kind":"x"}\n`,
    'time.ndjson': `${head}\n{"at":"1"}\n`,
    'none.ndjson': `${head}\n`,
    'one.ndjson': `${head}\n{"at":1,"device":"a","kind":"connected"}\n`,
    'devices.ndjson': '{"deviceId":"350000000000006","credential":"x"}\n',
  });
  const refused = (name: string, ...more: string[]) => replay([join(folder, name), '--admin-token', 'x', ...more]);
  await t.rejects(refused('text.ndjson'), { message: /^replay: line 1 of .*: this is no record that --record has/ });
  await t.rejects(refused('kind.ndjson'), { message: /^replay: line 2 of .*: "kind" is none of connected, / });
  await t.rejects(refused('time.ndjson'), { message: /^replay: line 2 of .*: "at" is not a number/ });
  await t.rejects(refused('none.ndjson'), { message: /^replay: .* has no devices$/ });
  await t.rejects(refused('missing.ndjson'), { message: /^replay: cannot read .*: ENOENT/ });
  await t.rejects(refused('one.ndjson', '--count', '1'), { message: '--count: is no option of "replay"' });
  await t.rejects(refused('one.ndjson', '--faster', '0'), { message: /^--faster: "0" is not a number/ });
  t.throws(() => readCommandLine(['replay'], {}), { message: 'replay: needs one file of --record' });
});
