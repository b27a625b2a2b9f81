import { findingText, healthRuleText } from '@lapel/schemas/base/rollout-health';
import { verdictText } from '@lapel/schemas/base/rollout-verdict';
import { openOf } from '@lapel/schemas/base/rollouts';
import { bytes, count, counted, duration, visible, when } from './format.ts';
import { operationName } from './operation-names.ts';
import type { DeviceSelector, RolloutCounts, RolloutDetails, RolloutRow } from './rows.ts';

/** The words for rollouts. Texts of applications and devices in them are made visible here. */

/** A name and its value in a list of facts. */
export type Words = readonly [name: string, value: string];

const SECOND = 1000;
const REASONS: Readonly<Record<string, string>> = {
  REQUESTED: 'Somebody has paused it.',
  ABORT_RULE: 'Too many devices failed, so the abort rule has paused it.',
  HEALTH_RULE: 'The devices that have the release are less well than a health rule allows.',
  HEALTH_UNKNOWN:
    'The soak of the stage is over, and a health rule has seen too little of its devices. To let it go on lets the stage pass.',
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
  'confirming',
  'unfinished',
  'failed',
  'refused',
  'cancelled',
  'waiting',
] as const satisfies readonly (keyof RolloutCounts)[];

export const totalOf = (counts: RolloutCounts): number => DEVICE_STATES.reduce((sum, state) => sum + counts[state], 0);

export type InWork = RolloutDetails['inWork'];

/** The words for unfinished devices that are told apart, and how the bar shows them. */
const IN_WORK = [
  ['installing', 'installing', 'unfinished'],
  ['queued', 'queued', 'queued'],
  ['switchedOff', 'switched off', 'off'],
] as const satisfies readonly (readonly [keyof InWork, string, string])[];

/** The devices by state without zeros, in the order of a bar. `inWork`: the unfinished ones, told apart. */
export function partsOf(counts: RolloutCounts, inWork?: InWork) {
  return DEVICE_STATES.flatMap((state): { state: typeof state; word: string; looks: string; devices: number }[] =>
    state === 'unfinished' && inWork
      ? IN_WORK.map(([name, word, looks]) => ({ state, word, looks, devices: inWork[name] }))
      : [{ state, word: state, looks: state, devices: counts[state] }],
  ).filter(({ devices }) => devices > 0);
}

/** Counts without zeros: `5 succeeded, 180 waiting`. */
export const countsWords = (counts: RolloutCounts, inWork?: InWork): string =>
  partsOf(counts, inWork)
    .map(({ word, devices }) => `${count(devices)} ${word}`)
    .join(', ') || 'no devices';

/**
 * The share of successes that decides about the next stage, in whole percent. Devices that were unchanged, refused or
 * cancelled do not count; null when no device counts.
 */
export function successPercent(counts: RolloutCounts): number | null {
  const { succeeded, failed } = counts;
  const all = succeeded + failed + openOf(counts);
  return all === 0 ? null : Math.floor((succeeded * 100) / all);
}

/** Operations whose subject says enough about a rollout: a package or a firmware, with its version. */
const OF_VERSIONS: readonly string[] = ['installSoftware', 'updateFirmware'] satisfies RolloutRow['operation'][];

/** The name of a rollout for people: its label, or what it does. */
export function nameOf({ label, operation, subject }: Pick<RolloutRow, 'label' | 'operation' | 'subject'>): string {
  if (label !== null) return label;
  if (subject === null) return operationName(operation);
  return OF_VERSIONS.includes(operation) ? subject : `${operationName(operation)}: ${subject}`;
}

type Stage = RolloutDetails['stages'][number];

/** Says what must be true before the next stage begins. */
export function nextWhen(
  {
    continueWhen,
    approval,
    approvalBy = null,
  }: Pick<Stage, 'continueWhen' | 'approval'> & Partial<Pick<Stage, 'approvalBy'>>,
  hasHealth = false,
): string {
  const share = continueWhen ? `${continueWhen.succeededPercent} % have succeeded` : 'all its devices have ended';
  const soak = continueWhen?.soakFor ? `, for ${duration(continueWhen.soakFor * SECOND)}` : '';
  const known = hasHealth ? ', its health rules know enough devices' : '';
  return `The next stage begins when ${share}${soak}${known}${approval ? `, and ${approvalBy === 'other' ? 'a person who did not start or change it' : 'somebody'} has approved it` : ''}.`;
}

/** Whether a stage has its share of successes, as the service has judged it, and not its approval. */
export const waitsForApproval = ({
  state,
  soakEndsAt,
  approval,
  approved,
}: Pick<Stage, 'state' | 'soakEndsAt' | 'approval' | 'approved'>): boolean =>
  state === 'running' && approval && !approved && soakEndsAt !== null;

/** Whether a stage has its share, and the time for which it has to keep it is not over. `now`: the time of the service. */
export const isSoaking = ({ soakEndsAt }: Pick<Stage, 'soakEndsAt'>, now: number): boolean =>
  soakEndsAt !== null && Date.parse(soakEndsAt) > now;

/** Says what the next stage waits for, and who has to approve a stage that has its share. */
export function approvalWords(stage: number, present: Pick<Stage, 'approvalBy' | 'soakEndsAt'>, now: number): string {
  const approval =
    present.approvalBy === 'other'
      ? 'the approval of a person who has neither started it nor changed it last'
      : 'an approval';
  const soak = isSoaking(present, now) ? 'the end of the soak, and for ' : '';
  return `Stage ${stage} has its successes. The next stage waits for ${soak}${approval}.`;
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
  const { batteryAtLeast, charging, networkType, storageFreeAtLeast, rollout, memberState } = selector;
  if (devices) return [['Devices', `${counted(devices.length, 'deviceId')}: ${some(devices)}`]];
  const words = [
    ...Object.entries(tags).map(tagWords),
    ...condition('Package', selector.package),
    ...condition('Version', selector.version, selector.versionNot, selector.versionRange),
    ...condition('Firmware', selector.firmwareVersion, selector.firmwareVersionNot, selector.firmwareVersionRange),
    ...condition('Language', lang),
    ...condition('Battery', batteryAtLeast === undefined ? undefined : `at least ${batteryAtLeast} %`),
    ...condition('Charging', charging === undefined ? undefined : charging ? 'yes' : 'no'),
    ...condition('Network', networkType),
    ...condition(
      'Free storage',
      storageFreeAtLeast === undefined ? undefined : `at least ${bytes(storageFreeAtLeast)}`,
    ),
    ...condition('Of the rollout', rollout),
    ...condition('In the state', memberState),
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

/** Says that a rollout has begun, and its first stage has not, because its window is closed; null when it is otherwise. */
export const closedWords = ({
  state,
  stage,
  rules: { window },
}: Pick<RolloutDetails, 'state' | 'stage' | 'rules'>): string | null =>
  state === 'running' && stage === 0 && window
    ? `The first stage begins when the window opens: ${windowWords(window)}.`
    : null;

export const abortWords = ({ failedPercent, minimumResults, codes }: NonNullable<Rules['abort']>): string =>
  `pauses when ${failedPercent} % of at least ${counted(minimumResults, 'result')} are failures${
    codes ? ` with ${visible(some(codes))}` : ''
  }`;

export const confirmWords = ({ seenAgainWithin, versionKept }: NonNullable<Rules['confirm']>): string =>
  `final when the device is seen again${versionKept ? ' and reports the version' : ''}, within ${duration(seenAgainWithin * SECOND)}`;

/** Says how many commands a rollout makes in a minute. */
export const rateWords = (rate: NonNullable<Rules['ratePerMinute']>): string =>
  typeof rate === 'number'
    ? `at most ${counted(rate, 'command')} a minute`
    : `at most ${counted(rate.from, 'command')} a minute at first, twice as many after each ${counted(rate.doubleAfter, 'success', 'successes')}, up to ${count(rate.to)}`;

/** Says how a rollout is carried out; rules that it does not have are left out. */
export function rulesWords(rules: Rules): Words[] {
  const { ratePerMinute, maxUnfinished, window, startAt, abort, confirm, health = [], expireIn, answerWithin } = rules;
  const { revertAfter } = rules;
  const retry = rules.retry as { codes: readonly string[]; attempts: number; after: number } | undefined;
  const found: [string, string | false | undefined][] = [
    ['Pace', ratePerMinute !== undefined && rateWords(ratePerMinute)],
    ['At a time', maxUnfinished !== undefined && `at most ${counted(maxUnfinished, 'device')} under way`],
    ['Window', window && windowWords(window)],
    ['Begins', startAt !== undefined && when(startAt)],
    ['Abort rule', abort && abortWords(abort)],
    ['Success', confirm && confirmWords(confirm)],
    ...health.map((rule): [string, string] => ['Health rule', visible(healthRuleText(rule))]),
    ['If one stops it', rules.revert === 'automatic' && 'its devices are brought back'],
    [
      'Retry',
      retry &&
        `up to ${counted(retry.attempts, 'command')} after ${visible(some(retry.codes))}, ${duration(retry.after * SECOND)} later`,
    ],
    ['Deliver within', expireIn !== undefined && duration(expireIn * SECOND)],
    ['Answer within', answerWithin !== undefined && duration(answerWithin * SECOND)],
    [
      'Way back',
      revertAfter !== undefined &&
        `a device that does not reach the service within ${duration(revertAfter * SECOND)} takes its former list again`,
    ],
    ['Older commands', rules.supersede && 'each command ends older unfinished ones of its kind'],
    ['Later devices', rules.continuous && 'devices that begin to match join; it ends only when it is cancelled'],
    ['Order', rules.preferConnected && 'connected devices first'],
  ];
  return found.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
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
  revertFailed: 'could not be reverted',
  reverted: 'reverted',
  completed: 'completed',
  cancelled: 'cancelled',
};
const ACTORS = { application: 'the application', administration: 'the operator', service: 'the service' } as const;

/** Says what happened and who did it. */
export function entryWords({ event, stage, by, person, reason, health, verdict }: RolloutDetails['history'][number]): {
  what: string;
  who: string;
  why: string | null;
  /** The figures that stood then, or that were accepted. */
  figures: string | null;
} {
  const isOfStage = stage !== null && (event === 'stageStarted' || event === 'approved');
  const what = isOfStage ? `stage ${stage} ${EVENTS[event]}` : EVENTS[event];
  const why = reason === null || reason === 'REQUESTED' ? null : visible(reason);
  return {
    what,
    who: person === null ? ACTORS[by] : visible(person),
    why: health ? visible(`${why}: ${findingText(health)}`) : why,
    figures: verdict ? visible(verdictText(verdict)) : null,
  };
}
