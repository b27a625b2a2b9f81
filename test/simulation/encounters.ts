import type { Choices } from './choices.ts';
import type { Phase } from './phases.ts';
import type { Aim, AimedEvent } from './plan.ts';
import type { Feature, Swarm } from './swarm.ts';
import type { Waits } from './waits.ts';

type Span = readonly [least: number, most: number];
interface Link {
  readonly does: AimedEvent;
  /** By default at any time. */
  readonly when?: Phase;
  /** Milliseconds for which it lasts, and from its phase to the event. */
  readonly lasts?: Span;
  readonly after?: Span;
}
interface Encounter {
  readonly features: readonly Feature[];
  readonly links: readonly [Link, ...Link[]];
}

const SHORT: Span = [300, 4_000];
const LONG: Span = [3_000, 8_000];
const AT_ONCE: Span = [0, 0];

const SLOW_DISK: Link = { does: 'slow-disk', lasts: LONG };
const LAST = { when: 'last seconds before a PUBACK' } as const;
/**
 * Commands are published in their last seconds, and their PUBACKs are late, or cannot be stored at once. A PUBACK comes some
 * milliseconds after its command, and is in memory for twenty: a freeze begins at the end of these, when no commit is on its
 * way any more, and is over after the end of the command.
 */
const IN_LAST_SECONDS: readonly Encounter[] = [
  { features: ['terms'], links: [{ ...LAST, does: 'freeze', lasts: [3_000, 5_000], after: [13, 23] }] },
  { features: ['terms'], links: [{ ...LAST, does: 'full-disk', lasts: [3_000, 6_000], after: [0, 10] }] },
  { features: ['terms'], links: [{ ...LAST, does: 'slow-disk', lasts: LONG }, { does: 'slow-network' }] },
];
/** A freeze meets a PUBACK more often than the others do. */
const OF_RETURNS = [IN_LAST_SECONDS[0]!, IN_LAST_SECONDS[0]!, ...IN_LAST_SECONDS];
const PAUSE: Link = { does: 'pause-rollouts', when: 'command of a rollout waits' };
const TAKEN_BACK: Link = { does: 'cancel-rollout', when: 'rollout takes back commands', after: [0, 600] };

/**
 * Troubles that meet only when one makes the state in which the other one matters. Each needs one of its features. They are
 * drawn apart from the rest of a plan, so that another one changes no other world.
 */
const ENCOUNTERS: readonly Encounter[] = [
  // A commit takes long, so that a kill comes before the disk has it, and much waits for the next one.
  { features: ['kills'], links: [SLOW_DISK, { does: 'kill', after: [5, 900] }] },
  {
    features: ['kills'],
    links: [SLOW_DISK, { does: 'kill', when: 'command is published', after: [1, 500] }],
  },
  // Units gather while the disk is slow, so that a full disk meets several in one commit.
  { features: ['full-disk'], links: [SLOW_DISK, { does: 'full-disk', after: [0, 600] }] },
  {
    features: ['full-disk'],
    links: [SLOW_DISK, { does: 'full-disk', when: 'command is published', lasts: LONG }],
  },
  ...IN_LAST_SECONDS,
  {
    features: ['terms'],
    links: [
      { does: 'slow-disk', when: 'command is about to end', lasts: LONG },
      { does: 'slow-network', when: 'command is about to end' },
    ],
  },
  // A rollout is cancelled while it takes back, and while its commands are on their way.
  { features: ['rollouts'], links: [{ does: 'cancel-rollout', when: 'command of a rollout is published' }] },
  { features: ['rollouts'], links: [SLOW_DISK, PAUSE, TAKEN_BACK] },
  {
    features: ['rollouts'],
    links: [{ does: 'no-network', when: 'rollout runs', lasts: LONG }, SLOW_DISK, PAUSE, TAKEN_BACK],
  },
  {
    features: ['rollouts'],
    links: [
      { ...PAUSE, when: 'device of a rollout waits again' },
      { does: 'cancel-rollout', when: 'rollout is paused', after: [0, 300] },
    ],
  },
  // Webhooks gather while their receiver fails or a disk is slow, and new ones come meanwhile.
  {
    features: ['bad-receiver'],
    links: [
      { does: 'freeze', when: 'command is published', lasts: [1_000, 3_000] },
      { does: 'lost-connections', when: 'many deliveries wait', lasts: AT_ONCE },
    ],
  },
];
/** The share of the worlds with such a feature that have one or two encounters. */
const SHARE = 0.5;

/** All devices log in at once, each with a unit of several statements, and the disk is full. */
const FULL_AT_LOGINS: Encounter = {
  features: ['full-disk', 'lost-connections'],
  links: [
    { does: 'lost-connections', lasts: AT_ONCE },
    { does: 'full-disk', after: [100, 500], lasts: LONG },
  ],
};
const SHARE_OF_LOGINS = 0.25;

function aimOf({ between }: Pick<Choices, 'between'>, [link, ...rest]: Encounter['links'], from: number): Aim {
  const { does, when = 'the service runs', lasts = SHORT, after = AT_ONCE } = link;
  const [next, ...others] = rest;
  return {
    does,
    when,
    from,
    lasts: between(...lasts),
    after: between(...after),
    ...(next && { next: aimOf({ between }, [next, ...others], between(0, 400)) }),
  };
}

/** In some worlds logins meet a full disk. It has a chance of its own, so that the other encounters stay as they are. */
export function loginsOf(swarm: Swarm, choices: Choices, length: number): Aim[] {
  const { features, links } = FULL_AT_LOGINS;
  const has = features.some((feature) => swarm.has(feature)) && choices.maybe(SHARE_OF_LOGINS);
  return has ? [aimOf(choices, links, choices.between(3_000, length))] : [];
}

/** The encounters of a world that lasts for `length` milliseconds. */
export function encountersOf(swarm: Swarm, choices: Choices, length: number, waits: Waits): Aim[] {
  const { between, one, maybe } = choices;
  const possible = ENCOUNTERS.filter(({ features }) => features.some((feature) => swarm.has(feature)));
  const count = possible.length > 0 && maybe(SHARE) ? between(1, 2) : 0;
  const aims = Array.from({ length: count }, () => aimOf(choices, one(possible).links, between(3_000, length)));
  return waits === 'returns' ? [...aims, aimOf(choices, one(OF_RETURNS).links, length / 2)] : aims;
}
