import t from 'tap';
import { createRemembered } from '../../src/runtime/remembered.ts';
import { alarmsOf, missingNodes } from '../../src/views/conditions/conditions.ts';
import { fullAt } from '../../src/views/disk-trend.ts';
import { createServiceState } from '../../src/views/service-state.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { run } from '../cli/run.ts';
import { startWorld, WIFI, type World } from '../world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SINCE = '2026-11-20T09:00:00Z';

interface StepRow {
  step: string;
  waiting: number;
  count: number;
  p50Ms: number | null;
  p99Ms: number | null;
}

const healthOf = async (world: World, query = `since=${SINCE}`) =>
  (await world.admin().get(`/admin/v1/fleet/health?${query}`)).body;
const byStep = (steps: StepRow[]): Record<string, StepRow> => Object.fromEntries(steps.map((row) => [row.step, row]));

t.test('how the service works over time', async (t) => {
  const world = await startWorld(t, { keepsHistory: true });
  const { clock } = world;
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await world.idle();

  await t.test('each step of a command is measured, and what waits for it is counted', async (t) => {
    tenant.receiver.answer({ status: 503 });
    await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const first = await device.link.command();
    await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const second = await device.link.command();
    clock.advance(2 * SECOND);
    device.link.puback(first.packet);
    await world.idle();
    const offline = await world.activatedDevice(tenant);
    await offline.link.drop();
    await tenant.api.put(`${offline.path}/settings/wifi`, { json: WIFI });
    await world.idle();
    clock.advance(11 * SECOND);
    const waits = byStep((await healthOf(world)).steps);
    t.match(waits, { published: { waiting: 1 }, received: { waiting: 1 }, answered: { waiting: 1 } });
    t.ok((waits['received']?.p99Ms ?? 0) > 1_000, 'the PUBACK came after two seconds');
    t.ok((waits['received']?.p99Ms ?? 0) <= 2_500);

    clock.advance(47 * SECOND);
    device.link.puback(second.packet);
    for (const { transactionId } of [first, second]) await device.link.ack({ transactionId, status: 'succeeded' });
    await world.idle();
    clock.advance(11 * SECOND);
    const { accepted, steps, points } = await healthOf(world);
    t.equal(accepted, 5, 'two activations and three commands');
    t.match(byStep(steps), {
      published: { waiting: 1, count: 4 },
      received: { waiting: 0, count: 4 },
      answered: { waiting: 0, count: 4 },
      delivered: { waiting: 3 },
    });
    t.ok((byStep(steps)['answered']?.p99Ms ?? 0) > 15_000, 'an answer came after a minute');
    t.match(points.at(-1), { answered: { count: 4 }, failed: 0 });
  });

  await t.test('all operations that ended are counted, with those that failed', async (t) => {
    await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const { transactionId } = await device.link.command();
    await device.link.ack({ transactionId, status: 'failed', error: { code: 'IO', message: '' } });
    await world.idle();
    clock.advance(11 * SECOND);
    const { operations } = await healthOf(world);
    t.match(operations[0], { operation: 'setWifi', finished: 3, failed: 1 }, 'the largest share is first');
    t.match(operations[1], { operation: 'activate', finished: 2, failed: 0 });
  });

  await t.test('the answers of the API are counted by route, refusals and faults apart', async (t) => {
    await tenant.api.get(`${tenant.path}/devices/000000000000001`);
    clock.advance(11 * SECOND);
    const { routes } = await healthOf(world);
    const row = routes.find(
      ({ route }: { route: string }) => route === '/v1/applications/{applicationId}/devices/{deviceId}',
    );
    t.match(row, { refused: 1, failed: 0, p99Ms: Number });
    t.ok(row.requests > row.refused);
  });

  await t.test('a restart, and a crash after a minute, lose nothing', async (t) => {
    const before = await healthOf(world);
    await world.restart();
    const { accepted, operations } = before;
    t.match(await healthOf(world), { accepted, operations }, 'it is stored when the service stops');
    clock.advance(6 * MINUTE);
    await world.idle();
    const { points, stepSeconds } = await healthOf(world);
    t.equal(stepSeconds, 300);
    t.equal(
      points.reduce((sum: number, point: { accepted: number }) => sum + point.accepted, 0),
      before.accepted,
    );
    t.equal((await healthOf(world, 'since=2026-11-20T09:00:00Z&step=3600')).stepSeconds, 3600);
    const { addresses, adminToken } = world.service;
    const shown = await run(['admin', 'fleet', 'health', '--since', SINCE, '--admin-url', addresses.admin], {
      env: { LAPEL_ADMIN_TOKEN: adminToken },
    });
    t.match(shown.stdout, /^answered +0 +5 /m);
    const routes = await run(['admin', 'fleet', 'routes', '--since', SINCE, '--admin-url', addresses.admin], {
      env: { LAPEL_ADMIN_TOKEN: adminToken },
    });
    t.match(routes.stdout, /^\/v1\/applications\/\{applicationId\}\/devices\/\{deviceId\} +\d+ +1 +0 /m);
  });

  await t.test('rows are removed after thirty days', async (t) => {
    const file = await world.raw();
    clock.leap(31 * DAY);
    await world.idle();
    clock.advance(11 * MINUTE);
    await world.idle();
    const [row] = await file.all<{ at: number }>('SELECT MIN(at) AS at FROM service_history');
    t.ok((row?.at ?? 0) > clock.now() - 31 * DAY * 1000);
    const { accepted, since } = await healthOf(world);
    t.equal(accepted, 0);
    const days = (clock.now() / 1000 - Date.parse(since)) / DAY;
    t.ok(days >= 7 && days < 7.1, 'a list reaches seven days back');
  });
});

t.test('what must be mended is listed, the critical first', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const admin = world.admin();
  const kinds = async (): Promise<string[]> =>
    (await admin.get('/admin/v1/fleet/alarms')).body.alarms.map(({ kind }: { kind: string }) => kind);
  const isOurs = (kind: string): boolean => kind === 'receivers';
  t.same((await kinds()).filter(isOurs), []);
  tenant.receiver.answer({ status: 500 });
  await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  const { transactionId } = await device.link.command();
  await device.link.ack({ transactionId, status: 'succeeded' });
  await tenant.receiver.next();
  await world.idle();
  world.clock.advance(11 * SECOND);
  t.same((await kinds()).filter(isOurs), ['receivers']);
  const { nodes } = (await admin.get('/admin/v1/nodes')).body;
  t.match(nodes, [{ isSelf: true, state: 'alive', devices: 1, disk: { freeBytes: Number, sizeBytes: Number } }]);
});

const NODE = { version: '1', databaseCheck: 'sound', late: [], certificates: [], disk: null, signs: [], parts: [] };
const FIGURES = {
  at: 0,
  devices: { total: 1, activated: 1, connected: 1 },
  transactions: { unfinished: 0, oldestAt: null },
  deliveries: { pending: 0, oldestDueAt: null },
  receivers: { failing: 0, slow: 0 },
};
const now = Date.parse('2026-11-20T09:30:00Z') * 1000;
const wayIn = { token: true, until: undefined };
const quiet = { now, nodes: [], known: [], fleet: null, wayIn, deviceCaEnd: null, self: { nodeId: null, parts: [] } };
const told = (state: object, full: number | null = null): string[] =>
  alarmsOf({ ...quiet, nodes: [{ nodeId: null, state: { ...NODE, ...state }, fullAt: full }] }).map(
    ({ kind, level, text }) => `${kind} ${level} ${text}`,
  );

t.test('a failing part is told once, with the name of its node', async (t) => {
  const away = (reason: string) => ({ ...NODE, parts: [{ part: 'objects', reason }] });
  const nodes = [
    { nodeId: 'node_a', state: away('as it was a minute ago'), fullAt: null },
    { nodeId: 'node_b', state: away('the disk is read-only'), fullAt: null },
    { nodeId: 'node_c', state: NODE, fullAt: null },
  ];
  const self = { nodeId: 'node_a', parts: [{ part: 'api', reason: 'does not answer' }] };
  const partsOf = (looked: object): string[] =>
    alarmsOf({ ...quiet, self, ...looked }).map(
      ({ kind, level, text, nodeId }) => `${kind} ${level} ${nodeId} ${text}`,
    );
  const own = 'part critical node_a api: does not answer';
  t.same(partsOf({ nodes }), [own, 'part critical node_b objects: the disk is read-only'], 'its own are those of now');
  t.same(partsOf({ nodes: [] }), [own], 'also when the nodes could not be looked at');
  const alone = { nodes: [{ nodeId: null, state: NODE, fullAt: null }], self: { ...self, nodeId: null } };
  t.same(partsOf(alone), ['part critical null api: does not answer']);
});

t.test('each alarm has its threshold', async (t) => {
  const GIB = 1024 ** 3;
  const inDays = (days: number): number => now / 1_000_000 + days * 86_400;
  const until = (days: number) => ({
    certificates: [{ listener: 'mqtts', file: 'cert' as const, expires: inDays(days) }],
  });
  t.same(told({}), []);
  t.same(told(until(31)), []);
  t.same(told(until(29)), ['certificate warning The certificate of mqtts expires in 29 days.']);
  t.same(told(until(1)), ['certificate critical The certificate of mqtts expires in 1 day.']);
  t.same(told(until(-1)), ['certificate critical The certificate of mqtts has expired.']);
  const list = (hours: number) => ({
    certificates: [
      {
        listener: 'mqtts',
        file: 'client_crl' as const,
        begins: inDays(-6.5 + hours / 24),
        expires: inDays(hours / 24),
      },
    ],
  });
  const which = 'The revocation list of client certificates of mqtts is out of date';
  t.same(told(list(6 * 24)), []);
  t.same(told(list(50)), [`certificate warning ${which} in 2 days.`]);
  t.same(told(list(25)), [`certificate critical ${which} in 25 hours.`]);
  t.same(told(list(-1)), [`certificate critical ${which}: none is accepted.`]);
  const ofDeviceCa = (days: number): string[] =>
    alarmsOf({ ...quiet, deviceCaEnd: inDays(days) * 1_000_000 }).map(({ level, text }) => `${level} ${text}`);
  const advice = 'make the next one, and retire it (lapel admin device-ca).';
  t.same(ofDeviceCa(31), []);
  t.same(ofDeviceCa(29), [`warning A device CA expires in 29 days: ${advice}`]);
  t.same(ofDeviceCa(-1), [`critical A device CA has expired: ${advice}`]);
  t.same(told({ disk: { free: 6 * GIB, size: 100 * GIB } }), []);
  t.same(told({ disk: { free: 4 * GIB, size: 100 * GIB } }), [
    'disk critical The disk is nearly full: 4.0 GiB are free.',
  ]);
  t.same(told({ disk: { free: GIB, size: 1.5 * GIB } }), [], 'a small disk is not full because it is small');
  t.same(told({ disk: { free: 50 * GIB, size: 100 * GIB } }, inDays(5) * 1_000_000), [
    'disk warning The disk will be full in 5 days.',
  ]);
  t.same(told({ disk: { free: 50 * GIB, size: 100 * GIB } }, inDays(9) * 1_000_000), []);
  t.same(told({ databaseCheck: 'damaged' }), ['database critical The database is damaged: restore a backup.']);
  t.same(told({ late: [{ kind: 'audit_log', seconds: 3 * 86_400 }] }), [
    'retention warning The removal of old audit log is 3 days late.',
  ]);
  const node = { release: '1', devices: 1, now };
  const ofOwners = (until: number | null | undefined): string[] =>
    alarmsOf({ ...quiet, wayIn: { token: false, until } }).map(({ kind, level, text }) => `${kind} ${level} ${text}`);
  t.same(ofOwners(null), []);
  t.same(ofOwners(inDays(20) * 1_000_000), []);
  t.same(ofOwners(inDays(10) * 1_000_000), [
    'people warning The last token of an owner expires in 10 days: make another one.',
  ]);
  t.same(ofOwners(inDays(1) * 1_000_000), [
    'people critical The last token of an owner expires in 1 day: make another one.',
  ]);
  for (const until of [undefined, inDays(-1) * 1_000_000])
    t.match(ofOwners(until), [/^people critical No owner has a valid token: “lapel owner” on the machine/]);
  const dead = { ...node, nodeId: 'a', startedAt: now - 9e9, leaseSeconds: -90 };
  const old = { ...node, nodeId: 'b', startedAt: now - 8e9, leaseSeconds: 2 };
  const fresh = { ...node, nodeId: 'c', startedAt: now - 10e6, leaseSeconds: 2 };
  t.same(alarmsOf({ ...quiet, known: [dead, old] }), [
    { kind: 'node', level: 'critical', text: 'A node has been missing for 2 minutes.', nodeId: 'a' },
  ]);
  t.same(missingNodes([dead, old, fresh]), [], 'a node that came since then has replaced it');
  t.same(missingNodes([dead, { ...dead, nodeId: 'd' }, old, fresh]).length, 1, 'one, and not two');
  t.match(alarmsOf({ ...quiet, known: [{ ...old, now: now - 60e6 }] }), [
    { kind: 'clock', text: 'The clock of this node is 60 seconds ahead of that of the database.' },
  ]);
});

t.test('a database that answers late is not taken for one whose clock is wrong', async (t) => {
  const { database, clock } = openTestDatabase(t);
  const row = { nodeId: 'a', release: '1', devices: 1, startedAt: 0, leaseSeconds: 2 };
  const service = createServiceState({
    database,
    clock,
    remembered: createRemembered({ clock }),
    nodeId: () => 'a',
    known: async () => {
      clock.advance(10 * SECOND);
      return [{ ...row, now: clock.now() }];
    },
    state: async () => NODE,
    connectedHere: () => 1,
    startedAt: 0,
    figures: async () => FIGURES,
    usual: async () => ({ atThisHour: null, before: null }),
    stoppedRollouts: async () => 0,
  });
  t.same((await service.alarms([], [])).alarms, []);
});

t.test('the day on which a disk is full follows from its last days', async (t) => {
  const fills = (free: (hour: number) => number, hours: number) =>
    fullAt(Array.from({ length: hours }, (_, hour) => ({ at: hour * HOUR * 1000, free: free(hour) })));
  t.equal(
    fills((hour) => 1000 - hour * 10, 50),
    100 * HOUR * 1000,
  );
  t.equal(
    fills((hour) => 1000 + hour, 50),
    null,
    'it becomes emptier',
  );
  t.equal(
    fills(() => 1000, 50),
    null,
  );
  t.equal(
    fills((hour) => 1000 - hour, 3),
    null,
    'a few hours say nothing',
  );
  t.equal(
    fills((hour) => 1e9 - hour, 50),
    null,
    'not within two years',
  );
});
