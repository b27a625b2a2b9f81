import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { createMetrics, type Metrics } from '../../src/metrics.ts';
import { createLog } from '../../src/runtime/log.ts';
import { allCurrent } from '../../src/views/conditions/consumers-now.ts';
import { ALERTS, type Kind, OUTSIDE } from '../../src/views/conditions/kinds.ts';
import { type FleetNow, ofFleet } from '../../src/views/conditions/of-fleet.ts';
import { createSignWatch } from '../../src/views/conditions/sign-watch.ts';
import type { OwnFigures } from '../../src/views/conditions/signs.ts';
import { verdictOf } from '../../src/views/conditions/verdict.ts';
import { createFakeClock } from '../fake-clock.ts';
import { startWorld, WIFI, type World } from '../world.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

interface Rules {
  groups: { rules: { alert?: string; labels?: { severity: string } }[] }[];
}
const RULES = join(import.meta.dirname, '../../deploy/prometheus/lapel.rules.yml');
const alerts = (parse(readFileSync(RULES, 'utf8')) as Rules).groups
  .flatMap(({ rules }) => rules)
  .flatMap(({ alert, labels }) => (alert === undefined ? [] : [{ alert, severity: labels?.severity }]));

t.test('each alert of Prometheus is a condition of the service, or only others can see it', async (t) => {
  const known = [...Object.values(ALERTS).flat(), ...Object.keys(OUTSIDE)];
  t.same(known.toSorted(), alerts.map(({ alert }) => alert).sort());
});

/** How a condition of a node comes about, and the minutes after which it is told. */
interface Case {
  kind: Kind;
  level: 'critical' | 'warning';
  minutes: number;
  make(figures: { metrics: Metrics; own: { -readonly [Name in keyof OwnFigures]: OwnFigures[Name] } }): void;
}
const CALL = { listener: 'api', method: 'GET', route: '/v1/token' };
const CASES: readonly Case[] = [
  { kind: 'devicesSilent', level: 'warning', minutes: 1, make: ({ own }) => (own.silentSeconds = 301) },
  { kind: 'devicesDeaf', level: 'warning', minutes: 5, make: ({ metrics }) => metrics.devicesWithoutCommands.set(1) },
  {
    kind: 'devicesContested',
    level: 'warning',
    minutes: 0,
    make: ({ metrics }) => metrics.mqttIdentitiesContested.inc(),
  },
  {
    kind: 'commandsRefused',
    level: 'warning',
    minutes: 0,
    make: ({ metrics }) => metrics.transactionsRefused.inc({ bound: 'device' }),
  },
  {
    kind: 'eventsRefused',
    level: 'warning',
    minutes: 0,
    make: ({ metrics }) => metrics.eventsRefused.inc({ bound: 'device' }),
  },
  {
    kind: 'webhooksGivenUp',
    level: 'warning',
    minutes: 0,
    make: ({ metrics }) => metrics.deliveryAttempts.inc({ outcome: 'exhausted' }),
  },
  ...(['ending', 'lost', 'behind'] as const).map(
    (state): Case => ({
      kind: 'consumersBehind',
      level: state === 'behind' ? 'warning' : 'critical',
      minutes: 5,
      make({ own }) {
        const judged = { state, ageMicros: 9e9, leftMicros: 9e9, restingMicros: 9e9 };
        own.consumers = {
          ...allCurrent(),
          [state]: { count: 1, worst: { ...judged, applicationId: 'patrol', name: 'billing' } },
        };
      },
    }),
  ),
  { kind: 'commitsSlow', level: 'warning', minutes: 5, make: ({ own }) => (own.commitP99Ms = 251) },
  { kind: 'loopSlow', level: 'warning', minutes: 5, make: ({ own }) => (own.loopP99Ms = 251) },
  {
    kind: 'connectionsNearBound',
    level: 'warning',
    minutes: 5,
    make({ metrics }) {
      metrics.mqttConnectionsLimit.set(100);
      metrics.mqttConnections.set(91);
    },
  },
  { kind: 'messagesWait', level: 'warning', minutes: 5, make: ({ metrics }) => metrics.mqttMessagesWaiting.set(1001) },
  {
    kind: 'numbersRaised',
    level: 'warning',
    minutes: 0,
    make: ({ metrics }) => metrics.numbersRaised.inc({ reason: 'copy' }),
  },
  {
    kind: 'removalStopped',
    level: 'warning',
    minutes: 10,
    make({ metrics }) {
      metrics.removalsRunning.set(1);
      metrics.removalProgress.set(1);
    },
  },
  { kind: 'memoryLow', level: 'warning', minutes: 10, make: ({ own }) => (own.heapShare = 0.91) },
  { kind: 'auditWaits', level: 'warning', minutes: 5, make: ({ own }) => (own.auditWaitsSeconds = 601) },
  {
    kind: 'retention',
    level: 'warning',
    minutes: 10,
    make: ({ metrics }) => metrics.retentionSwept.set({ kind: 'events' }, 1),
  },
];
/** These last only as long as the cause goes on: it is made again each minute. */
const REPEATED: readonly Case[] = [
  {
    kind: 'devicesRefused',
    level: 'warning',
    minutes: 5,
    make: ({ metrics }) => metrics.mqttRefused.inc({ reason: 'connections' }, 10),
  },
  {
    kind: 'devicesRefused',
    level: 'warning',
    minutes: 5,
    make: ({ metrics }) => metrics.enrolments.inc({ outcome: 'unknown' }, 20),
  },
  {
    kind: 'transfersRefused',
    level: 'warning',
    minutes: 5,
    make: ({ metrics }) => metrics.objectsRefused.inc({ bound: 'total' }, 10),
  },
  {
    kind: 'hintsDropped',
    level: 'warning',
    minutes: 5,
    make: ({ metrics }) => metrics.clusterHints.inc({ kind: 'x', outcome: 'dropped' }, 100),
  },
  {
    kind: 'apiFaults',
    level: 'critical',
    minutes: 5,
    make({ metrics }) {
      metrics.httpRequests.inc({ ...CALL, status: '200' }, 95);
      metrics.httpRequests.inc({ ...CALL, status: '503' }, 5);
    },
  },
  {
    kind: 'apiSlow',
    level: 'warning',
    minutes: 10,
    make({ metrics }) {
      metrics.httpRequests.inc({ ...CALL, status: '200' }, 100);
      for (const seconds of [...Array<number>(95).fill(0.1), ...Array<number>(5).fill(2)])
        metrics.httpSeconds.observe({ listener: CALL.listener, route: CALL.route }, seconds);
    },
  },
];

/** Those of the whole fleet are tried below, and those of disks, certificates, nodes and people with their thresholds. */
const OTHERS = ['devicesGone', 'commandsOld', 'rolloutsStopped', 'webhooksLate', 'receivers'] as const;
const THRESHOLDS = ['part', 'node', 'clock', 'database', 'disk', 'certificate', 'people'] as const;

t.test('each kind of condition is tried', async (t) => {
  const tried = [...CASES, ...REPEATED].map(({ kind }) => kind);
  t.same([...new Set<string>([...tried, ...OTHERS, ...THRESHOLDS])].sort(), Object.keys(ALERTS).sort());
});

/** A node whose figures are as they should be, which looks at them every minute. */
async function quietNode() {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const own = {
    silentSeconds: 0,
    commitP99Ms: null,
    loopP99Ms: null,
    heapShare: 0.5,
    leads: true,
    consumers: allCurrent(),
    auditWaitsSeconds: 0,
  } as Record<keyof OwnFigures, never>;
  const log = createLog({ level: 'error' });
  const watch = createSignWatch({ clock, log, metrics, own: async () => own, isOn: true });
  watch.start();
  await watch.idle();
  return {
    figures: { metrics, own },
    kinds: () => watch.known().map(({ kind, level }) => `${kind} ${level}`),
    async pass(minutes: number, each: () => void = () => undefined): Promise<void> {
      for (let minute = 0; minute < minutes; minute += 1) {
        each();
        clock.advance(MINUTE);
        await watch.idle();
      }
    },
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

t.test('each condition of a node is told when it has held for its time, and not before', async (t) => {
  for (const { kind, level, minutes, make } of CASES)
    await t.test(kind, async (t) => {
      await using node = await quietNode();
      await node.pass(3);
      t.same(node.kinds(), [], 'a quiet node shows nothing');
      make(node.figures);
      await node.pass(minutes === 0 ? 1 : minutes);
      if (minutes > 0) t.same(node.kinds(), [], 'not yet');
      await node.pass(1);
      t.same(node.kinds(), [`${kind} ${level}`]);
    });
  for (const { kind, level, minutes, make } of REPEATED)
    await t.test(`${kind}, again and again`, async (t) => {
      await using node = await quietNode();
      const again = (): void => make(node.figures);
      await node.pass(minutes, again);
      t.same(node.kinds(), [], 'not yet');
      await node.pass(5, again);
      t.same(node.kinds(), [`${kind} ${level}`]);
      await node.pass(10);
      t.same(node.kinds(), [], 'it ends with its cause');
    });
});

const FLEET: FleetNow = {
  devices: { total: 310, activated: 301, connected: 290 },
  transactions: { unfinished: 30, oldestAt: null },
  deliveries: { pending: 0, oldestDueAt: null },
  receivers: { failing: 0, slow: 0 },
  usual: { atThisHour: 288, before: 291 },
  stoppedRollouts: 0,
  startedSeconds: 3600,
};
const NOW = 1_000 * DAY * 1000;
const told = (change: Partial<FleetNow>): string[] =>
  ofFleet({ ...FLEET, ...change }, NOW).map(({ kind, level, text }) => `${kind} ${level}: ${text}`);
const connected = (count: number): Pick<FleetNow, 'devices'> => ({ devices: { ...FLEET.devices, connected: count } });

t.test('a fleet is judged by its own figures, and by those of other times', async (t) => {
  t.same(told({}), []);
  t.same(told(connected(143)), [
    'devicesGone critical: 143 of 301 devices are connected; at this hour of other days it was 288.',
  ]);
  t.same(told({ ...connected(140), usual: { atThisHour: null, before: 291 } }), [
    'devicesGone critical: 140 of 301 devices are connected; half an hour ago it was 291.',
  ]);
  t.same(told({ ...connected(0), usual: { atThisHour: null, before: null } }), [
    'devicesGone warning: None of 301 devices is connected.',
  ]);
  t.same(told({ ...connected(0), usual: { atThisHour: 0, before: 0 } }), [], 'switched off each night');
  t.same(told({ ...connected(0), startedSeconds: 60 }), [], 'devices come back after a start');
  const at = (ago: number): number => NOW - ago * 1000;
  t.same(told({ deliveries: { pending: 1, oldestDueAt: at(3 * MINUTE) } }), [
    'webhooksLate critical: A webhook should have been sent 3 minutes ago.',
  ]);
  t.same(told({ transactions: { unfinished: 1, oldestAt: at(8 * DAY) } }), [
    'commandsOld info: The oldest command without a result has waited for 8 days.',
  ]);
  t.same(told({ stoppedRollouts: 1, receivers: { failing: 2, slow: 0 } }), [
    'rolloutsStopped warning: 1 rollout has stopped, and waits for a decision.',
    'receivers warning: 2 receivers of webhooks fail.',
  ]);
});

t.test('the verdict says that all is well only by figures that were looked at', async (t) => {
  t.same(verdictOf([], FLEET), {
    state: 'well',
    text: 'All is well: 290 of 301 devices are connected, 288 at this hour of other days; 30 commands wait for a device.',
  });
  t.match(verdictOf([], null), { state: 'unknown' });
  t.same(verdictOf([], { ...FLEET, startedSeconds: 42 }), {
    state: 'unknown',
    text: 'The service started 42 seconds ago, and devices come back: 290 of 301 devices are connected.',
  });
  const alarm = (level: 'critical' | 'warning' | 'info') => ({ kind: 'disk', level, text: '', nodeId: null }) as const;
  t.match(verdictOf([alarm('info')], FLEET), { state: 'well' });
  t.match(verdictOf([alarm('warning')], FLEET), {
    state: 'attention',
    text: 'One thing must be looked at; the service does its work.',
  });
  t.match(verdictOf([alarm('critical'), alarm('warning'), alarm('warning')], FLEET), {
    state: 'critical',
    text: 'One thing must be mended now, and 2 things soon.',
  });
});

t.test('a condition of the service is told in all places', async (t) => {
  const world = await startWorld(t, { keepsHistory: true });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const look = async (of: World) => {
    await of.idle();
    const admin = of.admin();
    const [{ body: list }, { body: ready }] = [await admin.get('/admin/v1/fleet/alarms'), await admin.get('/readyz')];
    const kinds = (list.alarms as { kind: string }[]).map(({ kind }) => kind).filter((kind) => kind !== 'disk');
    return { kinds, verdict: list.verdict, notes: (ready.notes ?? []).map(({ part }: { part: string }) => part) };
  };
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) {
      world.clock.advance(MINUTE);
      await world.idle();
    }
  };
  await pass(6);
  t.match(await look(world), { kinds: [], notes: [] });

  await t.test('a device that does not acknowledge', async (t) => {
    await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const { packet, transactionId } = await device.link.command();
    await pass(7);
    t.match(await look(world), { kinds: ['devicesSilent'], verdict: { state: 'attention' }, notes: ['devicesSilent'] });
    device.link.puback(packet);
    await device.link.ack({ transactionId, status: 'succeeded' });
    await pass(2);
    t.match(await look(world), { kinds: [], notes: [] }, 'it ends with its cause');
  });

  await t.test('a fleet of which nothing is connected', async (t) => {
    await device.link.drop();
    await pass(2);
    t.match(await look(world), { kinds: ['devicesGone'], verdict: { state: 'attention' } });
  });
});
