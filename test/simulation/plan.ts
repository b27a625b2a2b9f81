import type { ScenarioFile } from '@lapel/device-sim/scenario/scenario-file';
import type { ServiceFault } from '@lapel/device-sim/service/service-fault';
import type { Pace } from './pace.ts';
import type { Phase as InPhase } from './phases.ts';
import type { Restore } from './restores.ts';

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
  'slow-files': 'files and keys take up to half a second, so that the URL of a download is made slowly',
  'no-network': 'no device has a connection, and none gets one',
  'lost-connections': 'the connections of all devices are reset at once',
} as const satisfies Record<string, string>;

/** Everything that happens in a world besides chance. A world that fails is this file and one command. */
export interface Plan {
  readonly seed: number;
  readonly scenario: ScenarioFile;
  readonly spells: readonly Spell[];
  readonly deeds: readonly Deed[];
  readonly aims: readonly Aim[];
  /** A backup and its restore, in some worlds. */
  readonly restore?: Restore;
  /** The scenario of another customer at the same time. Only the first customer is judged. */
  readonly beside?: ScenarioFile;
  /** Whether the customer has an endpoint, too. */
  readonly hasEndpoint?: boolean;
  /** By default that of a short world. */
  readonly pace?: Pace;
  /** The most commands of a device without a PUBACK or an answer; by default as many as the service has by itself. */
  readonly inFlight?: number;
}

/** An event that waits for its moment: it happens as soon as something is in a phase. Most phases are short. */
export interface Aim {
  readonly does: AimedEvent;
  readonly when: InPhase;
  /** From when on it waits, in milliseconds of the world. */
  readonly from: number;
  /** For a kill or a restart: for how long the service is away. */
  readonly lasts: number;
  /** As in a spell. */
  readonly by?: number;
  /** Milliseconds from the moment at which the phase was seen to the event. */
  readonly after?: number;
  /** How often it happens, and the milliseconds between two times. */
  readonly times?: number;
  readonly every?: number;
  /** The event that waits for its own phase then: its `from` counts from this event. */
  readonly next?: Aim;
}
export type AimedEvent = ServiceFault | Spell['kind'] | Deed['does'];

export const isSpell = (does: AimedEvent): does is Spell['kind'] => Object.hasOwn(SPELLS, does);
export const isDeed = (does: AimedEvent): does is Deed['does'] => does !== 'restart' && Object.hasOwn(DEEDS, does);

const HOUR = 3_600_000;
type Surroundings = Pick<Plan, 'spells' | 'aims'>;
/** All aims of a plan, also those that wait for others. */
const chainOf = (aim: Aim): Aim[] => [aim, ...(aim.next ? chainOf(aim.next) : [])];
/** All spells of a plan, also aimed ones. */
const spellsOf = ({ spells, aims }: Surroundings): Pick<Spell, 'kind' | 'by'>[] => [
  ...spells,
  ...aims.flatMap(chainOf).flatMap(({ does, by = 0 }) => (isSpell(does) ? [{ kind: does, by }] : [])),
];
export const hasSpell = (plan: Surroundings, kind: Spell['kind']): boolean =>
  spellsOf(plan).some((spell) => spell.kind === kind);

/**
 * Whether a stop of the service may find that the disk has no room for the outcomes of its last webhooks: those are sent
 * again after the next start.
 */
export const mayRepeat = (plan: Pick<Plan, 'spells' | 'aims' | 'deeds' | 'restore'>): boolean =>
  hasSpell(plan, 'full-disk') &&
  (plan.restore !== undefined || [...plan.aims.flatMap(chainOf), ...plan.deeds].some(({ does }) => does === 'restart'));

/** Whether the clock of the service is always right. */
export const isTimeRight = (plan: Surroundings): boolean => !hasSpell(plan, 'clock');

/** Whether the clock of the service leaps ahead by more than some milliseconds. */
const leapsBy = (plan: Surroundings, more: number): boolean =>
  spellsOf(plan).some(({ kind, by = 0 }) => kind === 'clock' && by > more);

/** Whether the service ends and starts again. */
const endsAndStarts = ({
  scenario,
  aims,
  deeds,
  restore,
}: Pick<Plan, 'scenario' | 'aims' | 'deeds' | 'restore'>): boolean =>
  restore !== undefined ||
  scenario.phases.some(({ service = [] }) => service.some(({ fault }) => fault !== 'freeze')) ||
  [...aims.flatMap(chainOf), ...deeds].some(({ does }) => does === 'kill' || does === 'restart');

/**
 * Whether a command can come after later ones, because it was passed over while it seemed to have expired: the clock is so far
 * ahead that it is not believed, or the service starts with the right clock before it has ended the command.
 */
export const mayPassOver = (plan: Pick<Plan, 'scenario' | 'spells' | 'aims' | 'deeds' | 'restore'>): boolean =>
  leapsBy(plan, 24 * HOUR) || (leapsBy(plan, 0) && endsAndStarts(plan));

/** Whether the clock of the service is wrong, and always by so much that it is not believed. */
export const isFarAhead = (plan: Surroundings): boolean =>
  !isTimeRight(plan) && spellsOf(plan).every(({ kind, by = 0 }) => kind !== 'clock' || by > 24 * HOUR);

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
  'cancel-rollout': 'one of the rollouts is cancelled',
  'block-devices': 'a device is blocked, and is let in again after ten seconds',
  restart: 'the service is restarted, as an alarm asks for after its clock was put back by more than a day',
} as const satisfies Record<string, string>;

/** Milliseconds by which a clock can be wrong. */
export const SMALL_LEAPS = [-HOUR, -30_000, -1_000, 1_000, 30_000, HOUR];
export const LEAPS = [...SMALL_LEAPS, -960 * HOUR, 960 * HOUR, 9_600 * HOUR];
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
export const TIMELESS = [
  'lost == 0',
  'doubled == 0',
  'unordered == 0',
  'violations == 0',
  'eventsLost == 0',
  'unaccounted == 0',
];

/** The surroundings with other events in place of some. */
export function withEvents<Some extends Surroundings>(plan: Some, other: (does: AimedEvent) => AimedEvent): Some {
  const ofAim = (aim: Aim): Aim => ({ ...aim, does: other(aim.does), ...(aim.next && { next: ofAim(aim.next) }) });
  const ofSpell = (spell: Spell): Spell => {
    const kind = other(spell.kind);
    return isSpell(kind) ? { ...spell, kind } : spell;
  };
  return { ...plan, spells: plan.spells.map(ofSpell), aims: plan.aims.map(ofAim) };
}
