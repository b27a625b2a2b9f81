import type { Pace } from './pace.ts';
import { type Deed, type Plan, PROMISES } from './plan.ts';
import { type Action, type Phase, release } from './scenario-of.ts';

const DAY = 86_400_000;
const DAYS_OF_A_MONTH = 30;

/** The pace of a world of months. */
const LONG: Pace = {
  keepAlive: 0,
  slowLook: 6 * 3_600_000,
  rolloutLook: 600_000,
  judging: DAY,
  changes: 3 * 3_600_000,
  mostEvents: 100_000_000,
};

/**
 * The ordinary life of a fleet: cameras that are put away at night, cameras that are without a network for weeks, settings
 * and cancels each day, a release each month, half of them as a rollout, new keys, restarts and kills of the service.
 */
export function yearOf(seed: number, { devices, months }: { devices: number; months: number }): Plan {
  const daily = (perDevice: number): string => `${Math.max(1, Math.round(devices * perDevice))}/d`;
  const phases: Phase[] = Array.from({ length: months }, (_, month): Phase => {
    const software = release(`1.${month}.0`);
    const rollout: Action = {
      do: 'rollout',
      after: '1d',
      release: software,
      stages: [
        { percent: 5, continueWhen: { succeededPercent: 50, soakFor: '2h' } },
        { percent: 30, approval: true },
      ],
      approve: '8h',
      resume: '8h',
      abort: { failedPercent: 50, minimumResults: 10 },
      ratePerMinute: 10,
    };
    return {
      name: `month-${month + 1}`,
      duration: `${DAYS_OF_A_MONTH}d`,
      actions: [
        { do: 'setWifi', rate: daily(0.01) },
        { do: 'setLanguage', rate: daily(0.005), expireIn: '2h' },
        { do: 'readStatus', rate: daily(0.002) },
        { do: 'cancel', rate: daily(0.002) },
        { do: 'newCredential', rate: '1/d' },
        month % 2 === 0 ? rollout : { do: 'install', rate: daily(0.01), release: software },
      ],
      service: [
        { fault: 'restart', after: '5d', lasts: '20s' },
        ...(month % 3 === 1 ? ([{ fault: 'kill', after: '12d', lasts: '1m' }] as const) : []),
      ],
    };
  });
  const deeds = Array.from({ length: months }, (_, month): Deed[] => [
    { does: 'new-signing-key', at: (month * DAYS_OF_A_MONTH + 3) * DAY },
    { does: 'new-store-key', at: (month * DAYS_OF_A_MONTH + 9) * DAY },
  ]);
  const life = { alarms: '0.0003/h', statusInterval: '7d' };
  return {
    seed,
    pace: LONG,
    spells: [],
    deeds: deeds.flat(),
    aims: [],
    scenario: {
      name: `year-${seed}`,
      seed,
      devices,
      groups: [
        { name: 'nights', share: '5 %', network: { away: '50 %', window: '12h' }, life },
        { name: 'weeks', network: { away: '20 %', window: '14d' }, life },
      ],
      phases,
      settle: '30m',
      expectations: PROMISES,
    },
  };
}
