import type { ScenarioFile } from '@lapel/device-sim/scenario/scenario-file';
import type { Pace } from './pace.ts';
import type { Plan } from './plan.ts';
import { release } from './scenario-of.ts';
import { HARDLY_JUDGED, type Told } from './told.ts';

type DeviceFault = NonNullable<NonNullable<ScenarioFile['groups']>[number]['faults']>[number];

const HOUR = 3_600_000;
const PACE: Pace = {
  keepAlive: 0,
  slowLook: 6 * HOUR,
  rolloutLook: 0,
  judging: 24 * HOUR,
  changes: 6 * HOUR,
  mostEvents: 100_000_000,
};
const BAD = '2.0.0';
/** Three percent of a thousand devices. */
const FIRST = 30;

/** The ways in which a release can be bad. The old firmware is that of a quarter of the devices. */
const KINDS = {
  'dead after minutes': { fault: 'silent-after', delay: '1m-10m' },
  'dead after two hours': { fault: 'silent-after', delay: '2h-3h' },
  'dead on one firmware': { fault: 'silent-after', delay: '1m-10m', firmware: 'old' },
  'restarts every ten minutes': { fault: 'reboots-after', delay: '8m-12m' },
  'restarts every half hour': { fault: 'reboots-after', delay: '25m-35m' },
  'loses its connection each minute': { fault: 'reconnects-after', delay: '40s-80s' },
  'reports a crash each half hour': { fault: 'crashes-after', delay: '20m-40m' },
  'battery empty in three hours': { fault: 'drains-after', delay: '3h' },
  'storage full in a day': { fault: 'fills-storage-after', delay: '20h-28h' },
  'does not install': { fault: 'fails' },
} as const satisfies Record<string, { fault: DeviceFault['fault']; delay?: string; firmware?: 'old' }>;
/** The percent of the devices for which the release is bad. */
const STRENGTHS = [100, 60, 40, 25];

/** A release, and how it is bad; without a kind it is good. */
export interface Release {
  readonly seed: number;
  readonly kind?: keyof typeof KINDS;
  readonly percent?: number;
}

/** Forty bad releases, and some good ones. */
export const releasesFrom = (seed: number, good: number): Release[] => [
  ...Object.keys(KINDS).flatMap((kind, row) =>
    STRENGTHS.map((percent, column) => ({
      seed: seed + row * STRENGTHS.length + column,
      kind: kind as keyof typeof KINDS,
      percent,
    })),
  ),
  ...Array.from({ length: good }, (_, place) => ({ seed: seed + 1000 + place })),
];

/**
 * A fleet with an ordinary life: some devices are switched off, some are put away for the night, and a region has no network
 * for an hour. It gets a release in stages, and the first one soaks.
 */
export function releaseOf({ seed, kind, percent = 0 }: Release, devices: number): Plan {
  const { fault, delay, firmware } = { delay: undefined, firmware: undefined, ...(kind && KINDS[kind]) } as {
    fault?: DeviceFault['fault'];
    delay?: string;
    firmware?: 'old';
  };
  const life = { statusInterval: '30m', alarms: '0/h' };
  const faultsOf = (isOld: boolean): DeviceFault[] =>
    fault === undefined || (firmware === 'old' && !isOld)
      ? []
      : [{ fault, probability: `${percent} %`, versions: [BAD], ...(delay !== undefined && { delay }) }];
  const group = (name: string, share: number, network: object | 'good', isOld = false) => ({
    name,
    share: `${share} %`,
    network,
    life,
    faults: faultsOf(isOld),
    software: [{ package: 'com.example.camera', version: '1.0.0', versionCode: 1, size: '20 kB' }],
  });
  const wave = { timesControl: 2, minimumDevices: 10 } as const;
  return {
    seed,
    pace: PACE,
    spells: [],
    deeds: [],
    aims: [],
    scenario: {
      name: `release-${seed}`,
      seed,
      devices,
      groups: [
        group('off', 5, { away: '94 %', window: '7d' }),
        group('nights', 20, { away: '40 %', window: '8h' }),
        group('region', 20, 'good'),
        group('old', 25, 'good', true),
        group('others', 30, 'good'),
      ] as never,
      phases: [
        // Long enough for each device that is put away to have been away once: the service learns how long that is.
        { name: 'before', duration: '20h' },
        {
          name: 'release',
          duration: '3h',
          actions: [
            {
              do: 'rollout',
              after: '1m',
              release: release(BAD),
              stages: [
                { count: FIRST, continueWhen: { succeededPercent: 60, soakFor: '5h' } },
                { percent: 20, continueWhen: { succeededPercent: 60, soakFor: '10h' } },
              ],
              abort: { failedPercent: 25, minimumResults: 10 },
              preferConnected: true,
              health: [
                { measure: 'silent', ...wave },
                { measure: 'reconnects', ...wave },
                { measure: 'events', types: ['custom.crash'], ...wave },
                { measure: 'batteryDrop', ...wave, timesControl: 1.2 },
                { measure: 'storageFree', ...wave, timesControl: 1.2 },
              ],
            },
          ],
        },
        { name: 'outage', duration: '1h', disconnect: { groups: ['region'], how: 'cut' } },
        // The second stage soaks for some hours as well.
        { name: 'after', duration: '8h', connect: { groups: ['region'] } },
      ],
      settle: '1m',
      expectations: [],
    } as ScenarioFile,
  };
}

const PAUSED = 'paused';

/** A row: what the release did, whether and why it was stopped, and how many devices had it then. */
export function releaseRow({ kind, percent }: Release, { rollouts, broken, notRun }: Told) {
  const rollout = rollouts[0];
  const { waiting = 0, refused = 0, unchanged = 0 } = rollout?.counts ?? {};
  const treated = rollout ? rollout.devices - waiting - refused - unchanged : 0;
  return {
    name: kind === undefined ? 'a good release' : `${kind}, ${percent} %`,
    isGood: kind === undefined,
    isStopped: rollout?.state === PAUSED && rollout.reason !== 'HEALTH_UNKNOWN',
    by: rollout?.stop ? (rollout.stop.measure ?? rollout.reason ?? '') : '',
    minutes: rollout?.stop ? Math.round(rollout.stop.after / 60) : undefined,
    treatedPercent: rollout ? (100 * treated) / rollout.devices : 0,
    // The database is judged at the end only: these worlds ask what a rollout does.
    trouble: [...broken, ...notRun]
      .filter((text) => text !== HARDLY_JUDGED)
      .concat(rollout ? [] : ['no rollout took place']),
  };
}
