import type { Choices } from './choices.ts';

/**
 * The features that a world can have much of. A world has some of these, at a strength at which their states are common, and none of the
 * others: where everything happens a little, two rare moments never meet.
 */
export const FEATURES = {
  'little-room': 'a device has one to three commands without a PUBACK or an answer',
  terms: 'commands have to be delivered, or answered, in a minute',
  'late-answers': 'devices answer after half a minute or more',
  absences: 'a group of devices is away for more than a minute',
  rollouts: 'several rollouts reach the same devices',
  pauses: 'rollouts are paused and go on, several times in a few seconds',
  installs: 'devices install software, and files are slow',
  cancels: 'many commands are cancelled',
  bursts: 'each device gets several commands in two seconds',
  'bad-receiver': 'most webhooks fail, or take seconds',
  requests: 'devices ask for URLs all the time',
  'full-disk': 'the disk is full for moments, at many phases',
  'slow-disk': 'the disk is slow for most of the time',
  'slow-network': 'the network is slow for most of the time',
  'lost-connections': 'connections are cut, fall silent, or are lost all at once',
  kills: 'the service is killed and restarted, at many phases',
  'wrong-clock': 'the clock of the service leaps',
  'odd-devices': 'devices have faults',
  operators: 'credentials, owners and keys of devices change',
} as const satisfies Record<string, string>;

export type Feature = keyof typeof FEATURES;

/** Features that need one another, and those that join them now and then. Each world has one theme. */
const THEMES: readonly { has: readonly Feature[]; often: readonly Feature[] }[] = [
  { has: ['rollouts', 'pauses'], often: ['installs', 'lost-connections', 'slow-network', 'full-disk', 'kills'] },
  { has: ['rollouts', 'pauses', 'slow-disk'], often: ['absences', 'little-room'] },
  { has: ['rollouts', 'pauses', 'installs'], often: ['cancels', 'bursts', 'slow-disk'] },
  { has: ['terms', 'absences', 'full-disk'], often: ['little-room', 'lost-connections', 'rollouts'] },
  { has: ['terms', 'absences'], often: ['kills', 'lost-connections', 'bursts', 'cancels'] },
  { has: ['terms', 'absences', 'slow-disk'], often: ['lost-connections', 'rollouts', 'cancels', 'bursts'] },
  { has: ['terms', 'late-answers', 'rollouts'], often: ['kills', 'lost-connections', 'cancels'] },
  { has: ['bursts', 'bad-receiver'], often: ['full-disk', 'kills', 'slow-disk', 'wrong-clock'] },
  { has: ['bursts', 'cancels', 'installs'], often: ['lost-connections', 'slow-network', 'kills'] },
  { has: ['little-room', 'full-disk', 'cancels'], often: ['bursts', 'late-answers', 'slow-network'] },
  { has: ['full-disk', 'late-answers'], often: ['cancels', 'kills'] },
  { has: ['requests', 'full-disk'], often: ['kills', 'installs', 'lost-connections'] },
  { has: ['wrong-clock', 'terms'], often: ['absences', 'late-answers'] },
  { has: ['odd-devices', 'operators'], often: ['kills', 'lost-connections', 'bursts', 'installs'] },
];
const OFTEN = 0.35;
const SELDOM = 0.05;

export type Swarm = ReadonlySet<Feature>;

/** The features of one world. */
export function swarmOf({ one, some }: Choices): Swarm {
  const { has, often } = one(THEMES);
  return new Set([...has, ...some(often, OFTEN), ...some(Object.keys(FEATURES) as Feature[], SELDOM)]);
}
