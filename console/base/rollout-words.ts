import { count, counted, duration, visible, when } from './format.ts';
import type { DeviceSelector, RolloutCounts, RolloutDetails, RolloutRow } from './rows.ts';

/** The words for rollouts. Texts of applications and devices in them are made visible here. */

/** A name and its value in a list of facts. */
export type Words = readonly [name: string, value: string];

const SECOND = 1000;
const REASONS: Readonly<Record<string, string>> = {
  REQUESTED: 'Somebody has paused it.',
  ABORT_RULE: 'Too many devices failed, so the abort rule has paused it.',
  STAGE_FAILED: 'All devices of the stage have ended, and too few have succeeded for the next stage.',
  DATABASE_RESTORED:
    'The database was restored from a backup, so the service does not know what happened since. Compare with what the devices report before it goes on.',
  DISTRIBUTION_STOPPED: 'The version is not distributed any more.',
  BINARY_DELETED: 'The file of the version is gone.',
  SIGNATURE_MISSING: 'The version is not signed, and its developer requires a signature.',
  SIGNATURE_INVALID: 'The signature of the version does not verify.',
  CERTIFICATE_CHANGED: 'The APK has another certificate than the version before.',
  CERTIFICATE_UNREADABLE: 'The certificates of the APK could not be read.',
  NOTIFICATION_NOT_CONFIGURED: 'The application has no URL for deviceEvent, so no command can be sent.',
};

/** Says in a sentence why a rollout is paused. */
export const reasonWords = (reason: string): string =>
  REASONS[reason] ?? `The service has paused it, because commands are refused with ${visible(reason)}.`;

/** Whether the service has paused a rollout by itself. */
export const hasStoppedItself = ({ state, reason }: Pick<RolloutRow, 'state' | 'reason'>): boolean =>
  state === 'paused' && reason !== null && reason !== 'REQUESTED';

/** The states of devices in the order in which a bar shows them. */
export const DEVICE_STATES = [
  'succeeded',
  'unchanged',
  'unfinished',
  'failed',
  'refused',
  'cancelled',
  'waiting',
] as const satisfies readonly (keyof RolloutCounts)[];

export const totalOf = (counts: RolloutCounts): number => DEVICE_STATES.reduce((sum, state) => sum + counts[state], 0);

/** Counts without zeros: `5 succeeded, 180 waiting`. */
export const countsWords = (counts: RolloutCounts): string =>
  DEVICE_STATES.filter((state) => counts[state] > 0)
    .map((state) => `${count(counts[state])} ${state}`)
    .join(', ') || 'no devices';

/**
 * The share of successes that decides about the next stage, in whole percent. Devices that were refused or cancelled do
 * not count; null when no device counts.
 */
export function successPercent({ succeeded, unchanged, failed, unfinished, waiting }: RolloutCounts): number | null {
  const all = succeeded + unchanged + failed + unfinished + waiting;
  return all === 0 ? null : Math.floor(((succeeded + unchanged) * 100) / all);
}

/** The name of a rollout for people: its label, or the subject of its commands. */
export const nameOf = ({ label, subject, rolloutId }: Pick<RolloutRow, 'label' | 'subject' | 'rolloutId'>): string =>
  label ?? subject ?? rolloutId;

type Stage = RolloutDetails['stages'][number];

/** Says what must be true before the next stage begins. */
export function nextWhen({ continueWhen, approval }: Pick<Stage, 'continueWhen' | 'approval'>): string {
  const share = continueWhen ? `${continueWhen.succeededPercent} % have succeeded` : 'all its devices have ended';
  const soak = continueWhen?.soakFor ? `, for ${duration(continueWhen.soakFor * SECOND)}` : '';
  return `The next stage begins when ${share}${soak}${approval ? ', and somebody has approved it' : ''}.`;
}

/** Whether only the approval of a stage is missing, as far as its counts say. */
export function waitsForApproval({ state, counts, continueWhen, approval, approved }: Stage): boolean {
  if (state !== 'running' || !approval || approved) return false;
  if (!continueWhen) return counts.waiting + counts.unfinished === 0;
  return (successPercent(counts) ?? 100) >= continueWhen.succeededPercent;
}

const MOST_IDS = 5;
/** Some items of a list, and the number of the others. */
const some = (items: readonly string[]): string =>
  items.length <= MOST_IDS
    ? items.join(', ')
    : `${items.slice(0, MOST_IDS).join(', ')} and ${count(items.length - MOST_IDS)} others`;

const condition = (name: string, is?: string, not?: string, range?: string): Words[] => [
  ...(is === undefined ? [] : [[name, visible(is)] as const]),
  ...(not === undefined ? [] : [[name, `not ${visible(not)}`] as const]),
  ...(range === undefined ? [] : [[name, `in the range ${visible(range)}`] as const]),
];

function tagWords([key, value]: [string, string | readonly string[] | null]): Words {
  const values = value === null ? 'no such tag' : typeof value === 'string' ? value : value.join(' or ');
  return [`Tag ${visible(key)}`, visible(values)];
}

/** Says which devices a selector selects. */
export function selectorWords(selector: DeviceSelector): Words[] {
  const { devices, tags = {}, lang, connected, lastSeenWithin, percent, salt } = selector;
  if (devices) return [['Devices', `${counted(devices.length, 'deviceId')}: ${some(devices)}`]];
  const words = [
    ...Object.entries(tags).map(tagWords),
    ...condition('Package', selector.package),
    ...condition('Version', selector.version, selector.versionNot, selector.versionRange),
    ...condition('Firmware', selector.firmwareVersion, selector.firmwareVersionNot, selector.firmwareVersionRange),
    ...condition('Language', lang),
    ...(connected === undefined ? [] : [['Connection', connected ? 'connected' : 'not connected'] as const]),
    ...(lastSeenWithin === undefined ? [] : [['Seen within', duration(lastSeenWithin * SECOND)] as const]),
    ...(percent === undefined
      ? []
      : [['Share', `${percent} % of them${salt === undefined ? '' : `, salt ${visible(salt)}`}`] as const]),
  ];
  return words.length === 0 ? [['Devices', 'all activated devices']] : words;
}

type Rules = RolloutDetails['rules'];

export function windowWords({ days, from, to, timeZone }: NonNullable<Rules['window']>): string {
  const on = days ? `${days.join(', ')}, ` : '';
  return `${on}${from} to ${to}${to <= from ? ' of the next day' : ''}, ${visible(timeZone)}`;
}

export const abortWords = ({ failedPercent, minimumResults, codes }: NonNullable<Rules['abort']>): string =>
  `pauses when ${failedPercent} % of at least ${counted(minimumResults, 'result')} are failures${
    codes ? ` with ${visible(some(codes))}` : ''
  }`;

/** Says how a rollout is carried out; rules that it does not have are left out. */
export function rulesWords(rules: Rules): Words[] {
  const { ratePerMinute, window, startAt, abort, expireIn, answerWithin } = rules;
  const retry = rules.retry as { codes: readonly string[]; attempts: number; after: number } | undefined;
  const found: [string, string | false | undefined][] = [
    ['Pace', ratePerMinute !== undefined && `at most ${counted(ratePerMinute, 'command')} a minute`],
    ['Window', window && windowWords(window)],
    ['Begins', startAt !== undefined && when(startAt)],
    ['Abort rule', abort && abortWords(abort)],
    [
      'Retry',
      retry &&
        `up to ${counted(retry.attempts, 'command')} after ${visible(some(retry.codes))}, ${duration(retry.after * SECOND)} later`,
    ],
    ['Deliver within', expireIn !== undefined && duration(expireIn * SECOND)],
    ['Answer within', answerWithin !== undefined && duration(answerWithin * SECOND)],
    ['Older commands', rules.supersede && 'each command ends older unfinished ones of its kind'],
    ['Later devices', rules.continuous && 'devices that begin to match join; it ends only when it is cancelled'],
    ['Order', rules.preferConnected && 'connected devices first'],
  ];
  return found.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
}

/**
 * Says that an abort rule can never act, or not in the first stages, because they have fewer devices than the rule needs
 * results; null when it can act in every stage. `sizes`: the devices of the stages.
 */
export function abortGap(minimumResults: number, sizes: readonly number[]): string | null {
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all === 0) return null;
  if (all < minimumResults)
    return `The rollout has ${counted(all, 'device')}, so it never has ${count(minimumResults)} results: this rule cannot pause it.`;
  let [stages, devices] = [0, 0];
  for (const size of sizes) {
    if (devices + size >= minimumResults) break;
    stages += 1;
    devices += size;
  }
  if (stages === 0) return null;
  const first = stages === 1 ? 'The first stage has' : `The first ${stages} stages have`;
  return `${first} ${counted(devices, 'device')}: this rule cannot pause the rollout before stage ${stages + 1}.`;
}

const EVENTS: Readonly<Record<RolloutDetails['history'][number]['event'], string>> = {
  created: 'created',
  started: 'started',
  stageStarted: 'began',
  paused: 'paused',
  resumed: 'let go on',
  approved: 'approved',
  changed: 'changed its rules',
  retried: 'let failed devices try again',
  completed: 'completed',
  cancelled: 'cancelled',
};
const ACTORS = { application: 'the application', administration: 'the operator', service: 'the service' } as const;

/** Says what happened and who did it. */
export function entryWords({ event, stage, by, reason }: RolloutDetails['history'][number]): {
  what: string;
  who: string;
  why: string | null;
} {
  const isOfStage = stage !== null && (event === 'stageStarted' || event === 'approved');
  const what = isOfStage ? `stage ${stage} ${EVENTS[event]}` : EVENTS[event];
  return { what, who: ACTORS[by], why: reason === null || reason === 'REQUESTED' ? null : visible(reason) };
}
