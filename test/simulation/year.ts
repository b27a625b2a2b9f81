import type { Pace } from './pace.ts';
import { type Action, type Deed, type Phase, type Plan, PROMISES, release } from './plan.ts';

const DAY = 86_400_000;
const DAYS_OF_A_MONTH = 30;
const HOUR_SECONDS = 3_600;

/** The pace of a world of months. */
const LONG: Pace = {
  keepAlive: 16 * HOUR_SECONDS,
  slowLook: 3_600_000,
  judging: 3 * DAY,
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
        { percent: 5, continueWhen: { succeededPercent: 50, soakFor: '1d' } },
        { percent: 30, approval: true },
      ],
      approve: '1d',
      resume: '1d',
      abort: { failedPercent: 50, minimumResults: 10 },
      ratePerMinute: 10,
    };
    return {
      name: `month-${month + 1}`,
      duration: `${DAYS_OF_A_MONTH}d`,
      actions: [
        { do: 'setWifi', rate: daily(0.03) },
        { do: 'setLanguage', rate: daily(0.01), expireIn: '1d' },
        { do: 'readStatus', rate: daily(0.005) },
        { do: 'cancel', rate: daily(0.003) },
        { do: 'newCredential', rate: '3/d' },
        month % 2 === 0 ? rollout : { do: 'install', each: 1, within: '20d', release: software },
      ],
      service: [
        { fault: 'restart', after: '5d', lasts: '20s' },
        { fault: 'kill', after: '12d', lasts: '1m' },
        { fault: 'restart', after: '25d', lasts: '10m' },
      ],
    };
  });
  const deeds = Array.from({ length: months }, (_, month): Deed[] => [
    { does: 'new-signing-key', at: (month * DAYS_OF_A_MONTH + 3) * DAY },
    { does: 'new-store-key', at: (month * DAYS_OF_A_MONTH + 9) * DAY },
  ]);
  const life = { alarms: '0.001/h', statusInterval: '30d' };
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
        { name: 'nights', share: '8 %', network: { away: '50 %', window: '12h' }, life },
        { name: 'weeks', network: { away: '20 %', window: '14d' }, life },
      ],
      phases,
      settle: '30m',
      expectations: PROMISES,
    },
  };
}
