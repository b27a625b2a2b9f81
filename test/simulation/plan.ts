import { createRandom, deriveSeed, draw, type Random } from '@lapel/device-sim/random';
import type { ScenarioFile } from '@lapel/device-sim/scenario/scenario-file';
import type { ServiceFault } from '@lapel/device-sim/service/service-fault';
import type { Pace } from './pace.ts';
import { PARTS } from './parts.ts';
import { type Phase as InPhase, PHASES } from './phases.ts';

/** Trouble of the machine or the network, for a time. Milliseconds of the world. */
export interface Spell {
  readonly kind: keyof typeof SPELLS;
  readonly from: number;
  readonly lasts: number;
  /** Milliseconds by which a wrong clock is ahead; below 0: behind. */
  readonly by?: number;
}

/** The kinds of spells, each with its meaning. */
export const SPELLS = {
  'slow-disk': 'the disk takes up to two seconds for each commit',
  cuts: 'connections are reset, at any byte',
  silence: 'connections carry no bytes in one direction, and neither side is told',
  'slow-network': 'every piece is on its way for up to a second',
  'full-disk': 'the disk has no room for another page',
  clock: 'the clock of the service leaps away, and leaps back at the end',
} as const satisfies Record<string, string>;

/** Everything that happens in a world besides chance. A world that fails is this file and one command. */
export interface Plan {
  readonly seed: number;
  readonly scenario: ScenarioFile;
  readonly spells: readonly Spell[];
  readonly deeds: readonly Deed[];
  readonly aims: readonly Aim[];
  /** By default that of a short world. */
  readonly pace?: Pace;
}

/** An event that waits for its moment: it happens as soon as something is in a phase. Most phases are short. */
export interface Aim {
  readonly does: AimedEvent;
  readonly when: InPhase;
  /** From when on it waits, in milliseconds of the world. */
  readonly from: number;
  readonly lasts: number;
  /** As in a spell. */
  readonly by?: number;
}
export type AimedEvent = ServiceFault | Spell['kind'] | Deed['does'];

export const isSpell = (does: AimedEvent): does is Spell['kind'] => Object.hasOwn(SPELLS, does);
export const isDeed = (does: AimedEvent): does is Deed['does'] => does !== 'restart' && Object.hasOwn(DEEDS, does);

/** Whether the clock of the service is always right. */
export const isTimeRight = ({ spells, aims }: Pick<Plan, 'spells' | 'aims'>): boolean =>
  !spells.some(({ kind }) => kind === 'clock') && !aims.some(({ does }) => does === 'clock');

/** Something that an administrator of the service does, at a moment of the world. */
export interface Deed {
  readonly does: keyof typeof DEEDS;
  readonly at: number;
}

/** The deeds of administrators, besides those that a scenario has. */
export const DEEDS = {
  'new-signing-key': 'tokens get another key; the former one stays valid',
  'new-store-key': 'URLs of files get another key; the former one stays valid',
  'end-connections': 'the connections of all devices are ended',
  'pause-rollouts': 'all rollouts are paused',
  'block-devices': 'a device is blocked, and is let in again after ten seconds',
  restart: 'the service is restarted, as an alarm asks for after its clock was put back by more than a day',
} as const satisfies Record<string, string>;

export type Phase = ScenarioFile['phases'][number];
export type Action = NonNullable<Phase['actions']>[number];
type Group = NonNullable<ScenarioFile['groups']>[number];

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
const USUAL_SPELLS = ['slow-disk', 'cuts', 'silence', 'slow-network'] as const;
/** Milliseconds by which a clock can be wrong. */
const HOUR = 3_600_000;
const SMALL_LEAPS = [-HOUR, -30_000, -1_000, 1_000, 30_000, HOUR];
const LEAPS = [...SMALL_LEAPS, -960 * HOUR, 960 * HOUR, 9_600 * HOUR];
/** Events that can wait for a phase. */
const AIMED: readonly AimedEvent[] = [
  'kill',
  'kill',
  'kill',
  'restart',
  'freeze',
  ...(Object.keys(SPELLS) as Spell['kind'][]),
  ...(Object.keys(DEEDS) as Deed['does'][]).filter((deed) => deed !== 'restart'),
];
/** Settings that a rollout brings. */
const SET_BY_ROLLOUTS = [
  { operation: 'setLanguage', parameters: { lang: 'de' } },
  { operation: 'setWifi', parameters: [{ ssid: 'depot', password: 'passwords are long' }] },
] as const satisfies readonly Pick<Action, 'operation' | 'parameters'>[];
const OPERATORS = ['newCredential', 'moveDevice', 'replaceDevice'] as const;
/** Longer than most commands live that can expire. */
const LONG_AWAY = { away: '40 %', window: '80s' };
const NETWORKS = ['good', 'good', 'wifi', 'lte', 'tunnel', 'flaky', LONG_AWAY] as const;
export const release = (version: string) => ({ package: 'com.example.camera', version, size: '20 kB' });

/** Expectations that hold in every world: the promises. */
export const PROMISES = [
  'lost == 0',
  'doubled == 0',
  'unordered == 0',
  'forged == 0',
  'violations == 0',
  'eventsLost == 0',
  'wrong == 0',
  'unaccounted == 0',
];

/** The promises that hold while the clock of the service is wrong. All others speak of times. */
const TIMELESS = [
  'lost == 0',
  'doubled == 0',
  'unordered == 0',
  'violations == 0',
  'eventsLost == 0',
  'unaccounted == 0',
];

/** Choices of one world. */
function choicesOf(random: Random) {
  const between = (min: number, max: number): number => Math.round(draw(random, { min, max }));
  const one = <Item>(items: readonly Item[]): Item =>
    items[Math.min(items.length - 1, Math.trunc(random() * items.length))]!;
  return {
    between,
    one,
    maybe: (probability: number): boolean => random() < probability,
    some: <Item>(items: readonly Item[], probability: number): Item[] => items.filter(() => random() < probability),
    milliseconds: (min: number, max: number): string => `${between(min, max)}ms`,
  };
}

const spellOf = ({ between }: ReturnType<typeof choicesOf>, kind: Spell['kind'], length: number): Spell => ({
  kind,
  from: between(5_000, length),
  lasts: between(500, 15_000),
});

/** What happens in the world of a seed. Worlds are small and short: 3 to 12 devices, mostly a minute or two. */
export function planOf(seed: number): Plan {
  const choices = choicesOf(createRandom(deriveSeed(seed, PARTS.plan)));
  const { between, one, maybe, some, milliseconds } = choices;
  const devices = between(3, 12);
  const isRough = maybe(0.5);
  const groups: Group[] = ['one', 'two'].map((name, place) => ({
    name,
    ...(place === 0 && { share: '50 %' }),
    network: one(NETWORKS),
    behaviour: { latency: `5ms-${between(10, 4000)}ms`, ...(maybe(0.3) && { repeats: '10 %' }) },
    life: {
      alarms: `${between(0, 60)}/h`,
      ...(maybe(0.3) && { fileUploads: '12/h', calls: '12/h', callLength: '2s-10s' }),
    },
    ...(isRough && {
      faults: some(DEVICE_FAULTS, 0.15).map((fault) => ({
        fault,
        probability: `${between(2, 30)} %`,
        ...(DELAYED.includes(fault) && { delay: '500ms-5s' }),
      })),
    }),
  }));
  let versions = 0;
  const nextRelease = () => {
    versions += 1;
    return release(`1.${versions}.0`);
  };
  const stage = () => ({
    percent: between(10, 60),
    ...(maybe(0.3)
      ? { approval: true }
      : { continueWhen: { succeededPercent: between(30, 90), soakFor: `${between(2, 20)}s` } }),
  });
  const rollout = (): Action => ({
    do: 'rollout',
    after: milliseconds(0, 3000),
    ...(maybe(0.4) ? { release: nextRelease() } : one(SET_BY_ROLLOUTS)),
    ...(maybe(0.6) && { stages: [stage()], approve: `${between(1, 15)}s` }),
    ...(maybe(0.5) && { abort: { failedPercent: between(10, 60), minimumResults: 2 } }),
    ...(maybe(0.3) && { expireIn: '60s' }),
    resume: `${between(1, 20)}s`,
    ratePerMinute: between(4, 60),
  });
  const actionsOf = (): Action[] => [
    ...some(SETTINGS, 0.6).map(
      (action): Action => ({
        do: action,
        rate: `${between(2, 60)}/m`,
        ...(maybe(0.3) && { expireIn: `${between(60, 75)}s` }),
      }),
    ),
    ...some(READS, 0.2).map((action): Action => ({ do: action, rate: `${between(2, 20)}/m` })),
    ...(maybe(0.5) ? [{ do: 'cancel', rate: `${between(2, 20)}/m` } as Action] : []),
    ...(maybe(0.4) ? [{ do: 'install', each: 1, within: '20s', release: nextRelease() } as Action] : []),
    ...(maybe(0.6) ? [rollout()] : []),
    ...some(OPERATORS, 0.15).map((action): Action => ({ do: action, rate: `${between(1, 6)}/m` })),
  ];
  const ofReceiver = (): Pick<Phase, 'receiver'> => {
    const faults = maybe(0.4) ? some(RECEIVER_FAULTS, 0.25) : [];
    return faults.length > 0 ? { receiver: faults.map((fault) => ({ fault, share: `${between(2, 14)} %` })) } : {};
  };
  const phases: Phase[] = Array.from({ length: between(1, 2) }, (_, at) => {
    const seconds = between(15, 60);
    const moments = (count: number): number[] => Array.from({ length: count }, () => between(500, seconds * 1000));
    return {
      name: `phase-${at + 1}`,
      duration: `${seconds}s`,
      actions: actionsOf(),
      ...(maybe(0.7) && {
        service: moments(between(1, 4)).map((after) => ({
          fault: one(SERVICE_FAULTS),
          after: `${after}ms`,
          lasts: milliseconds(0, 8000),
        })),
      }),
      ...ofReceiver(),
    };
  });
  const length = phases.reduce((sum, { duration }) => sum + Number.parseInt(String(duration), 10) * 1000, 0);
  const spells: Spell[] = Array.from({ length: maybe(0.6) ? between(1, 3) : 0 }, () =>
    spellOf(choices, one(USUAL_SPELLS), length),
  );
  const more = choicesOf(createRandom(deriveSeed(seed, PARTS.surroundings)));
  const moreSpells: Spell[] = [
    ...(more.maybe(0.3) ? [spellOf(more, 'full-disk', length)] : []),
    ...(more.maybe(0.25) ? [{ ...spellOf(more, 'clock', length), by: more.one(LEAPS) }] : []),
  ];
  const deeds: Deed[] = [
    ...Array.from({ length: more.maybe(0.5) ? more.between(1, 4) : 0 }, () => ({
      does: more.one(Object.keys(DEEDS) as (keyof typeof DEEDS)[]),
      at: more.between(5_000, length),
    })),
    ...moreSpells
      .filter(({ by = 0 }) => by > 24 * HOUR)
      .map(({ from, lasts }): Deed => ({ does: 'restart', at: from + lasts + more.between(1_000, 20_000) })),
  ];
  const aims: Aim[] = Array.from({ length: more.maybe(0.6) ? more.between(1, 3) : 0 }, () => {
    const does = more.one(AIMED);
    return {
      does,
      when: more.one(Object.keys(PHASES) as InPhase[]),
      from: more.between(5_000, length),
      lasts: more.between(500, 8_000),
      ...(does === 'clock' && { by: more.one(SMALL_LEAPS) }),
    };
  });
  // The operator of a scenario wants to see at a device that its connection has ended, which a silent one never tells.
  const hasOperator = phases.some(({ actions = [] }) =>
    actions.some((action) => OPERATORS.some((one) => one === action.do)),
  );
  const told = <Kind>(kind: Kind | 'silence'): Kind | 'cuts' | 'silence' =>
    kind === 'silence' && hasOperator ? 'cuts' : kind;
  const surroundings = {
    spells: [...spells, ...moreSpells].map((spell) => ({ ...spell, kind: told(spell.kind) })),
    deeds,
    aims: aims.map((aim) => ({ ...aim, does: told(aim.does) })),
  };
  // Commands that may have expired are passed over until the clock is believed again, and are sent if it was wrong.
  const isFarOff = moreSpells.some(({ by = 0 }) => by > 24 * HOUR);
  const expectations = isTimeRight(surroundings)
    ? PROMISES
    : TIMELESS.filter((promise) => !isFarOff || promise !== 'unordered == 0');
  return {
    seed,
    ...surroundings,
    scenario: { name: `world-${seed}`, seed, devices, groups, phases, settle: '10m', expectations },
  };
}
