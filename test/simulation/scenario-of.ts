import type { ScenarioFile } from '@lapel/device-sim/scenario/scenario-file';
import type { Choices } from './choices.ts';
import type { Feature, Swarm } from './swarm.ts';

export type Phase = ScenarioFile['phases'][number];
export type Action = NonNullable<Phase['actions']>[number];
export type Group = NonNullable<ScenarioFile['groups']>[number];

const SETTINGS = ['setWifi', 'setApn', 'setLanguage', 'setBluetooth'] as const;
const READS = ['readStatus', 'readBluetooth', 'listBluetooth', 'pressButton'] as const;
const DEVICE_FAULTS = [
  'fails',
  'answers-late',
  'answers-twice',
  'answers-in-wrong-order',
  'answers-before-puback',
  'half-open',
  'breaks-off-install',
  'reboots-and-forgets',
  'unknown-fields',
  'storage-full',
  'slow-reader',
  'wrong-credential',
  'two-with-one-identity',
  'download-cut',
  'upload-url-expired',
  'clock-wrong',
] as const;
const DELAYED: readonly string[] = ['answers-late', 'half-open', 'breaks-off-install', 'slow-reader'];
const RECEIVER_FAULTS = ['fail', 'slow', 'hang', 'go-away', 'too-many', 'redirect', 'slow-body'] as const;
const SERVICE_FAULTS = ['restart', 'kill', 'kill', 'kill', 'freeze'] as const;
export const OPERATORS = ['newCredential', 'moveDevice', 'replaceDevice'] as const;
const NETWORKS = ['good', 'good', 'wifi', 'lte', 'tunnel', 'flaky'] as const;
const LANGUAGES = ['de', 'fr', 'it', 'es', 'nl', 'pt', 'sv', 'pl'];
/** The least term of a command (docs/reference.md). */
const TERM = '60s';
/** Failures after which a rollout makes another command for a device. */
const AGAIN = ['INTERNAL', 'NO_ANSWER', 'EXPIRED'];
export const networkOf = (ssid: string) => ({ ssid, security: 'WPA2', password: 'passwords are long' });
export const release = (version: string) => ({ package: 'com.example.camera', version, size: '20 kB' });

/** The devices, the phases, and what the customer does in them. */
export function scenarioOf(swarm: Swarm, choices: Choices): Pick<ScenarioFile, 'devices' | 'groups' | 'phases'> {
  const { between, one, maybe, some, milliseconds, seconds } = choices;
  const has = (feature: Feature): boolean => swarm.has(feature);
  const perHour = (min: number, max: number): string => `${between(min, max)}/h`;
  const perMinute = (min: number, max: number): string => `${between(min, max)}/m`;
  const percent = (min: number, max: number): string => `${between(min, max)} %`;

  const faults = (): Group['faults'] => [
    ...(has('odd-devices')
      ? some(DEVICE_FAULTS, 0.3).map((fault) => ({
          fault,
          probability: percent(2, 30),
          ...(DELAYED.includes(fault) && { delay: '500ms-5s' }),
        }))
      : []),
    ...(has('late-answers')
      ? [{ fault: 'answers-late' as const, probability: percent(15, 60), delay: has('terms') ? '45s-80s' : '25s-60s' }]
      : []),
    ...(has('rollouts') && maybe(0.5) ? [{ fault: 'fails' as const, probability: percent(5, 40) }] : []),
  ];
  const isLongAway = has('absences') && maybe(0.4);
  const groupOf = (name: string, place: number): Group => ({
    name,
    ...(place === 0 && { share: '50 %' }),
    network: isLongAway && place === 1 ? { away: '45 %', window: '66s' } : one(NETWORKS),
    behaviour: { latency: `5ms-${between(10, 4000)}ms`, ...(maybe(0.2) && { repeats: '10 %' }) },
    life: {
      alarms: perHour(0, 60),
      ...(has('requests') && {
        fileUploads: perHour(60, 300),
        ...(maybe(0.5) && { calls: '30/h', callLength: '2s-10s' }),
      }),
    },
    faults: faults() ?? [],
  });

  let versions = 0;
  const nextRelease = () => {
    versions += 1;
    return release(`1.${versions}.0`);
  };
  let settings = 0;
  /** A setting that no device has yet: a rollout makes no command for a device that has it. */
  const nextSetting = (): Pick<Action, 'operation' | 'parameters'> => {
    settings += 1;
    return maybe(0.5)
      ? { operation: 'setLanguage', parameters: { lang: LANGUAGES[settings % LANGUAGES.length]! } }
      : { operation: 'setWifi', parameters: [networkOf(`depot ${settings}`)] };
  };
  const terms = (probability: number): Pick<Action, 'expireIn' | 'answerWithin'> => ({
    ...(maybe(probability) && { expireIn: maybe(0.7) ? TERM : '75s' }),
    ...(maybe(probability / 2) && { answerWithin: TERM }),
  });
  const ofTerms = (): Pick<Action, 'expireIn' | 'answerWithin'> => (has('terms') ? terms(0.8) : {});
  const stage = () => ({
    percent: between(10, 60),
    ...(maybe(0.3)
      ? { approval: true }
      : { continueWhen: { succeededPercent: between(30, 90), soakFor: seconds(2, 10) } }),
  });
  /** A release or a setting, half of those that a device can confirm with a confirmation. */
  const asked = (): Pick<Action, 'release' | 'operation' | 'parameters' | 'confirm'> => {
    const what = maybe(has('installs') ? 0.6 : 0.2) ? { release: nextRelease() } : nextSetting();
    if (('operation' in what && what.operation === 'setLanguage') || !maybe(0.5)) return what;
    return { ...what, confirm: { seenAgainWithin: seconds(60, 180) } };
  };
  const rollout = (within: number): Action => ({
    do: 'rollout',
    after: milliseconds(0, within),
    ...asked(),
    ...(maybe(0.4) && { stages: [stage()], approve: seconds(1, 15) }),
    ...(maybe(0.3) && { abort: { failedPercent: between(10, 60), minimumResults: 2 } }),
    ...(maybe(0.5) && { retry: { codes: AGAIN, attempts: 2, after: milliseconds(100, 3000) } }),
    ...ofTerms(),
    resume: has('pauses') && maybe(0.6) ? milliseconds(50, 1500) : milliseconds(1_000, 15_000),
    ...(maybe(has('pauses') ? 0.2 : 0.6) && { ratePerMinute: between(10, 120) }),
  });

  /** `isLong`: nearly nothing happens in a phase that only has to pass. */
  const actionsOf = (length: number, isLong: boolean): Action[] => {
    const rate = isLong ? perMinute(2, 8) : perMinute(2, 20);
    const each = has('bursts') && !isLong ? between(2, 5) : 0;
    return [
      ...some(SETTINGS, has('bursts') ? 0.6 : 0.5).map(
        (action): Action => ({
          do: action,
          ...(each > 0 && maybe(0.6) ? { each, within: '2s' } : { rate }),
          ...ofTerms(),
          ...(maybe(0.1) && { supersede: true }),
        }),
      ),
      ...some(READS, 0.1).map((action): Action => ({ do: action, rate: perMinute(2, 10) })),
      ...(has('cancels') ? [{ do: 'cancel', rate: perMinute(20, 90) } as Action] : []),
      ...(has('installs')
        ? [{ do: 'install', each: between(1, 2), within: '10s', release: nextRelease(), ...ofTerms() } as Action]
        : []),
      ...(has('rollouts') ? Array.from({ length: between(1, 3) }, () => rollout(Math.min(length, 10) * 1000)) : []),
      ...(has('operators')
        ? some(OPERATORS, 0.5).map((action): Action => ({ do: action, rate: perMinute(1, 6) }))
        : []),
    ];
  };
  const receiver = (isFirst: boolean): Pick<Phase, 'receiver'> => {
    if (has('bad-receiver'))
      return isFirst ? { receiver: [{ fault: one(RECEIVER_FAULTS), share: percent(40, 90) }] } : {};
    const few = maybe(0.2) ? some(RECEIVER_FAULTS, 0.25) : [];
    return few.length > 0 ? { receiver: few.map((fault) => ({ fault, share: percent(2, 14) })) } : {};
  };
  const lengths = (): number[] => {
    if (has('absences')) return [between(8, 20), between(55, 75), between(8, 20)];
    if (has('late-answers') || has('terms')) return [between(10, 25), between(40, 65)];
    return Array.from({ length: between(1, 2) }, () => between(12, 35));
  };
  const phases = lengths().map((length, at): Phase => {
    const isLong = length > 38;
    const actions = actionsOf(length, isLong);
    return {
      name: `phase-${at + 1}`,
      duration: `${length}s`,
      ...(actions.length > 0 && { actions }),
      ...(has('absences') &&
        !isLongAway &&
        at === 1 && { disconnect: { groups: ['two'], how: one(['politely', 'cut']) } }),
      ...(has('absences') && !isLongAway && at === 2 && { connect: { groups: ['two'] } }),
      ...(maybe(has('kills') ? 0.8 : 0.1) && {
        service: Array.from({ length: between(1, has('kills') ? 3 : 1) }, () => ({
          fault: one(SERVICE_FAULTS),
          after: milliseconds(500, length * 1000),
          lasts: milliseconds(0, 6000),
        })),
      }),
      ...receiver(at === 0),
    };
  });
  return { devices: has('pauses') ? between(4, 9) : between(3, 6), groups: ['one', 'two'].map(groupOf), phases };
}
