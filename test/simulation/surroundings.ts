import type { Choices } from './choices.ts';
import { type Phase as InPhase, PHASES } from './phases.ts';
import { type Aim, type AimedEvent, DEEDS, type Deed, LEAPS, SMALL_LEAPS, type Spell } from './plan.ts';
import type { Feature, Swarm } from './swarm.ts';

/** Phases that are there only in worlds with one of these features. */
const ONLY_WITH: Partial<Record<InPhase, readonly Feature[]>> = {
  // Encounters alone aim at these.
  'last seconds before a PUBACK': [],
  'rollout takes back commands': [],
  'command waits behind others': ['bursts', 'little-room', 'absences'],
  'command can expire': ['terms'],
  'command is about to end': ['terms'],
  'command is over its time': ['terms'],
  'command was ended early': ['terms'],
  'install is published': ['installs'],
  'command waits behind an install': ['installs'],
  'cancel is owed': ['cancels'],
  'command of a rollout waits': ['rollouts'],
  'command of a rollout is published': ['rollouts'],
  'command is held': ['rollouts'],
  'rollout runs': ['rollouts'],
  'rollout soaks': ['rollouts'],
  'rollout is paused': ['rollouts'],
  'rollout takes back': ['rollouts'],
  'device of a rollout waits again': ['rollouts'],
  'many deliveries wait': ['bad-receiver', 'bursts'],
  'delivery is tried again': ['bad-receiver'],
  'request is carried out': ['requests'],
  'answer to a request is owed': ['requests'],
};

/** The events that a feature aims at phases; one that is there twice comes twice as often. */
const AIMED_BY: Partial<Record<Feature, readonly AimedEvent[]>> = {
  absences: ['no-network', 'lost-connections'],
  pauses: ['pause-rollouts', 'pause-rollouts', 'pause-rollouts', 'lost-connections'],
  installs: ['slow-files'],
  'full-disk': ['full-disk', 'full-disk', 'full-disk'],
  'slow-disk': ['slow-disk'],
  'slow-network': ['slow-network'],
  'lost-connections': ['lost-connections', 'lost-connections', 'cuts', 'silence', 'end-connections'],
  kills: ['kill', 'kill', 'kill', 'restart', 'freeze'],
  'wrong-clock': ['clock'],
  terms: ['lost-connections', 'lost-connections'],
  operators: ['block-devices', 'new-signing-key', 'new-store-key', 'end-connections'],
};
type Link = readonly [does: AimedEvent, when: InPhase];
type Chain = readonly [Link, ...Link[]];
/** Events that follow one another, each in its phase: a full disk, or a pause, while devices come back, is rare otherwise. */
const CHAINED_BY: Partial<Record<Feature, readonly Chain[]>> = {
  pauses: [
    [
      ['lost-connections', 'command of a rollout is published'],
      ['pause-rollouts', 'rollout runs'],
    ],
    [
      ['pause-rollouts', 'command of a rollout is published'],
      ['lost-connections', 'command is held'],
    ],
    [
      ['pause-rollouts', 'command of a rollout waits'],
      ['pause-rollouts', 'rollout runs'],
    ],
  ],
  terms: [
    [
      ['full-disk', 'command is about to end'],
      ['lost-connections', 'command is over its time'],
    ],
    [
      ['slow-disk', 'command is about to end'],
      ['lost-connections', 'command is about to end'],
    ],
  ],
  cancels: [[['full-disk', 'cancel is owed']]],
};
/** The spells of a feature, which last for most of the time. */
const SPELLS_BY: Partial<Record<Feature, Spell['kind']>> = {
  installs: 'slow-files',
  'slow-disk': 'slow-disk',
  'slow-network': 'slow-network',
};
/** The deeds that come at times of chance. A rollout that is cancelled has no later moments, so encounters alone cancel one. */
const BY_CHANCE = (Object.keys(DEEDS) as Deed['does'][]).filter((does) => does !== 'cancel-rollout');
const RUNS = 'the service runs';
const DAY = 86_400_000;
const FEW: readonly AimedEvent[] = ['kill', 'end-connections', 'lost-connections', 'slow-disk', 'freeze'];

interface Surroundings {
  readonly spells: readonly Spell[];
  readonly deeds: readonly Deed[];
  readonly aims: readonly Aim[];
}

/** Troubles, administrators and aimed events of a world that lasts for `length` milliseconds. */
export function surroundingsOf(swarm: Swarm, { between, one, maybe, some }: Choices, length: number): Surroundings {
  const spells = [...swarm].flatMap((feature): Spell[] => {
    const kind = SPELLS_BY[feature];
    return kind !== undefined && maybe(0.7)
      ? [{ kind, from: between(2_000, length / 2), lasts: between(length / 3, length) }]
      : [];
  });
  const isFar = swarm.has('wrong-clock') && maybe(0.6);
  const aimed = [...swarm].flatMap((feature) => AIMED_BY[feature] ?? []).filter((does) => !isFar || does !== 'clock');
  const events = aimed.length > 0 ? aimed : FEW;
  const phases = (Object.keys(PHASES) as InPhase[]).filter(
    (phase) => ONLY_WITH[phase]?.some((feature) => swarm.has(feature)) ?? true,
  );
  const rare = phases.filter((phase) => ONLY_WITH[phase] !== undefined);
  const lastsFor = (does: AimedEvent): number => {
    if (does === 'no-network') return one([between(1_000, 8_000), between(52_000, 68_000)]);
    if (does === 'full-disk') return between(500, swarm.has('terms') ? 6_000 : 4_000);
    return between(300, 8_000);
  };
  const aim = (from: number, links: number): Aim => {
    const does = one(events);
    const isRepeated = does !== 'clock' && does !== 'no-network' && maybe(does === 'pause-rollouts' ? 0.7 : 0.3);
    return {
      does,
      when: maybe(0.7) && rare.length > 0 ? one(rare) : one(phases),
      from,
      lasts: lastsFor(does),
      after: one([0, 0, 0, between(1, 30), between(30, 1_500)]),
      ...(isRepeated && { times: between(2, 4), every: one([between(30, 300), between(300, 3_000)]) }),
      ...(does === 'clock' && { by: one(SMALL_LEAPS) }),
      ...(links > 0 && maybe(0.6) && { next: aim(one([0, between(0, 300), between(300, 5_000)]), links - 1) }),
    };
  };
  const chainFrom = ([[does, when], ...rest]: Chain, from: number): Aim => {
    const [next, ...others] = rest;
    return {
      does,
      when,
      from,
      lasts: lastsFor(does),
      after: one([0, between(1, 30)]),
      ...(next && { next: chainFrom([next, ...others], one([0, between(0, 300)])) }),
    };
  };
  const chains = [...swarm].flatMap((feature) => CHAINED_BY[feature] ?? []);
  /** A service that starts while its clock is wrong has to tell that from what it has stored. */
  const farLeap = (from: number): Aim => {
    const lasts = between(4_000, 20_000);
    const killed = between(lasts / 2, lasts - 1_000);
    const restart: Aim = { does: 'restart', when: RUNS, from: lasts - killed + between(1_000, 10_000), lasts: 500 };
    const kill: Aim = { does: 'kill', when: RUNS, from: killed, lasts: between(0, 500), next: restart };
    return { does: 'clock', when: one(phases), from, lasts, by: one([40, 400]) * DAY, next: kill };
  };
  const aims = [
    ...Array.from({ length: between(3, 5) }, () => aim(between(3_000, length), 2)),
    ...Array.from({ length: chains.length > 0 ? between(2, 4) : 0 }, () =>
      chainFrom(one(chains), between(3_000, length)),
    ),
  ];
  const leaps: Spell[] =
    swarm.has('wrong-clock') && !isFar
      ? [{ kind: 'clock', from: between(3_000, length), lasts: between(500, 15_000), by: one(LEAPS) }]
      : [];
  return {
    spells: [
      ...spells,
      ...leaps,
      ...(maybe(0.15) ? [{ kind: one(['cuts', 'silence'] as const), from: between(3_000, length), lasts: 3_000 }] : []),
    ],
    aims: isFar ? [...aims, farLeap(between(3_000, Math.min(length, 35_000)))] : aims,
    deeds: [
      ...some(BY_CHANCE, 0.1).map((does) => ({ does, at: between(5_000, length) })),
      ...leaps
        .filter(({ by = 0 }) => by > DAY)
        .map(({ from, lasts }): Deed => ({ does: 'restart', at: from + lasts + between(1_000, 20_000) })),
    ],
  };
}
