import type { Figures, Stage } from '../customer/figures.ts';
import { percentile } from '../histogram.ts';
import type { Chapter } from './record.ts';

/** A figure that reports have for each phase. `about` explains it; `base` names the figure that counts as its 100 %. */
interface Named {
  readonly about: string;
  readonly base?: string;
  readonly read: (chapter: Chapter) => number | undefined;
  /** True for a figure that exists for the whole run only, not for a phase. */
  readonly whole?: true;
  /** True for a figure that the customer counts by group, action and node. */
  readonly scoped?: true;
  readonly unit?: '/s' | 'bytes' | 'ms';
  /** The percentage when the base is 0. Without this the percentage then counts as not measured. */
  readonly ofNothing?: number;
  /** True for a figure that counts some of its base, so that it is never above 100 %. */
  readonly part?: true;
}

/** Prefix of the fleet's counts of faults: how often each fault of the scenario was played. */
export const PLAYED = 'played ';
/** Prefix of the fleet's counts of connections to each node, from 1, if there are several. */
export const CONNECTED_TO = 'connections to node ';

/** Transactions that got a 201 and are in none of the figures of results; 0 when the books are right. */
const unaccounted = ({ accepted, succeeded, failed, cancelled, unfinished, lost, eventsLost }: Figures): number =>
  Math.abs(accepted - succeeded - failed - cancelled - unfinished - (lost - eventsLost));

/** Violations that devices noticed, plus violations in the customer's books. */
export const violationsIn = ({ figures, fleet: counts }: Chapter): number | undefined =>
  counts['violations'] === undefined && !figures ? undefined : (counts['violations'] ?? 0) + (figures?.violations ?? 0);

const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);

type Count = { [Name in keyof Figures]: Figures[Name] extends number ? Name : never }[keyof Figures];
/** A webhook that is not genuine, and a rollout, name no device; a result that nobody requested belongs to no action. */
const UNSCOPED = new Set<Count>(['forged', 'unasked', 'rollouts', 'stages', 'plannedStages']);
const PARTS = new Set<Count>([
  'spared',
  'stages',
  'accepted',
  'carriedOut',
  'delivered',
  'succeeded',
  'failed',
  'cancelled',
  'unfinished',
  'eventsLost',
]);
const customer = (name: Count, about: string, base?: string): [string, Named] => [
  name,
  {
    about,
    ...(base !== undefined && { base }),
    ...(!UNSCOPED.has(name) && { scoped: true }),
    ...(PARTS.has(name) && { part: true }),
    read: ({ figures }) => figures?.[name],
  },
];
const fleet = (name: string, about: string, more: Partial<Named> = {}): [string, Named] => [
  name,
  { about, read: ({ fleet }) => fleet[name], ...more },
];

/** The figures that expectations can name. */
export const FIGURES: Readonly<Record<string, Named>> = Object.fromEntries([
  customer(
    'lost',
    'accepted transactions whose result never arrived, and accepted events whose webhook never arrived',
    'accepted',
  ),
  customer('doubled', 'results, commands or events that arrived twice', 'accepted'),
  customer(
    'late',
    'results that arrived more than `lateAfter` after the service had acknowledged the answer of the device',
    'accepted',
  ),
  customer('unordered', 'commands that arrived after a later command of the same device', 'accepted'),
  customer('reused', 'transactionIds that the service gave to two calls', 'accepted'),
  [
    'unaccounted',
    {
      about: 'the difference between `accepted` and `succeeded` + `failed` + `cancelled` + `unfinished` + `lost`',
      base: 'accepted',
      scoped: true,
      read: ({ figures }) => (figures ? unaccounted(figures) : undefined),
    },
  ] as [string, Named],
  customer(
    'wrong',
    'differences between a message and the message that it was made from (see Content and pace), and wrong answers to probes',
  ),
  customer('forged', 'webhooks with a wrong signature'),
  customer('unasked', 'results of transactions that this run did not request'),
  customer('requests', 'calls of the actions, without repetitions, and transactions that rollouts made'),
  customer('accepted', 'calls that got a 201, and transactions that rollouts made', 'requests'),
  customer('carriedOut', 'calls that succeeded and create no transaction, such as `readStatus`', 'requests'),
  customer('errors', 'attempts of calls that got a 5xx or no answer; each repetition counts', 'requests'),
  customer('postponed', 'how often a call waited because of a 429', 'requests'),
  [
    'refused',
    {
      about: 'calls that got a 4xx; `refused(404)`: calls with one status',
      base: 'requests',
      scoped: true,
      part: true,
      read: ({ figures }) => figures && sum(figures.refused),
    },
  ] as [string, Named],
  customer('delivered', 'transactions whose command reached the device', 'accepted'),
  customer('succeeded', 'transactions with the result `succeeded`', 'accepted'),
  customer('failed', 'transactions with the result `failed`; `failed(CODE)`: with one code', 'accepted'),
  customer('cancelled', 'transactions with the result `cancelled`', 'accepted'),
  customer(
    'unfinished',
    'transactions without a result that are not lost: the device is offline or has not answered, or the webhook comes later',
    'accepted',
  ),
  customer('resent', 'webhooks that arrived again with the same webhook-id'),
  customer('repeated', 'webhooks that arrived again although an earlier attempt was answered 2xx in time'),
  customer('hammering', 'attempts of webhooks that came earlier than the documented schedule allows'),
  customer('window', 'times at which a device had more than 16 commands without a PUBACK or an answer'),
  customer('eventsTold', 'events of devices that the service acknowledged'),
  customer('eventsReceived', 'events that the customer received', 'eventsTold'),
  customer('eventsLost', 'events that the customer never received', 'eventsTold'),
  customer('eventsDoubled', 'events that the customer received twice', 'eventsTold'),
  customer('rollouts', 'rollouts that began; `rollouts(paused)`: those that are in one state at the end'),
  customer('rolloutDevices', 'devices of rollouts'),
  customer(
    'spared',
    'devices of paused or cancelled rollouts that never got a command, because the rollout had stopped',
    'rolloutDevices',
  ),
  customer(
    'overshoot',
    'commands of rollouts that were published for the first time although the rollout had to stand still (see Rollouts)',
  ),
  customer('stages', 'stages of rollouts that have begun', 'plannedStages'),
  customer('plannedStages', 'all stages of rollouts'),
  customer('pushed', 'events that endpoints got, without repetitions'),
  customer('pulled', 'events that consumers of the stream got, without repetitions'),
  customer('order', 'events that came to an ordered endpoint, or to a consumer of the stream, after a later one'),
  customer('gaps', 'events that never came to an endpoint, or to a consumer of the stream, that should have got them'),
  customer(
    'customerLost',
    'events that programs of the customer lost by their own faults (see The programs of the customer)',
  ),
  customer('customerAgain', 'events that programs of the customer got again by their own faults'),
  fleet('devices', 'devices of the run'),
  fleet('connected', 'devices that are connected at the end of the phase', { base: 'devices', part: true }),
  fleet('activated', 'devices that are activated at the end of the phase', { base: 'devices', part: true }),
  fleet('connections', 'connections that were made; `connections(2)`: to the second address of `--mqtt`'),
  fleet('losses', 'connections that ended although the device wanted to keep them', { base: 'connections' }),
  fleet('failedOpenings', 'connections that ended before the device was logged in and subscribed; it tried again'),
  fleet('connectFailures', 'connections that a device gave up after all its attempts'),
  fleet('commands', 'commands that devices received, with repetitions'),
  fleet('repetitions', 'commands that a device received again', { base: 'commands' }),
  fleet('downloads', 'downloads that ended, complete or not'),
  fleet('calls', 'calls that began'),
  fleet('uploads', 'recordings and files that devices have uploaded'),
  fleet('uploadFailures', 'recordings and files whose upload was given up'),
  fleet('complaints', 'messages of devices that the service reported on `errors`'),
  [
    'violations',
    {
      about: 'breaches of the contract by the service, as the devices and the customer noticed them',
      read: violationsIn,
    },
  ] as [string, Named],
  fleet('planned', 'actions that were due'),
  fleet('made', 'actions that were begun', { base: 'planned', ofNothing: 100, part: true }),
  fleet('skipped', 'actions that were never begun, because the service was slower than their rate', {
    base: 'planned',
    part: true,
  }),
  [
    'played',
    {
      about:
        'faults of devices, of the receiver and of the service that were played; `played(half-open)`: faults of one kind',
      read: ({ fleet: counts }) =>
        sum(Object.fromEntries(Object.entries(counts).filter(([name]) => name.startsWith(PLAYED)))),
    },
  ] as [string, Named],
  fleet('stalled', 'times at which the service answered no call for more than a second'),
  fleet('watched', 'milliseconds in which the service was looked at, ten times a second', { unit: 'ms' }),
  fleet(
    'halted',
    'milliseconds in which the service had not answered a call for 150 ms, except the first second of them',
    {
      base: 'watched',
      ofNothing: 0,
      unit: 'ms',
    },
  ),
  fleet('memory', 'bytes by which the memory of the service has grown since all devices were connected', {
    unit: 'bytes',
  }),
  fleet('memoryKept', 'bytes of objects that the service still keeps, since all devices were connected', {
    unit: 'bytes',
  }),
  fleet('memoryPerConnection', 'bytes of them for each connection since then; 0 for fewer than 2,000 connections', {
    whole: true,
    unit: 'bytes',
  }),
  fleet('crashes', 'times at which the service ended although nobody told it to. Only with `--service`'),
  fleet('recovery', 'longest time after a fault of the service until it accepted connections again', {
    whole: true,
    unit: 'ms',
  }),
  fleet('connectRate', 'connections a second, while the fleet connected at the start', { whole: true, unit: '/s' }),
  fleet('memoryPerDevice', 'bytes of memory of the simulator for each device', { whole: true, unit: 'bytes' }),
]);

/**
 * Counts of which one part can be named in parentheses: `refused(404)` counts one status, `failed(CODE)` one error code,
 * `played(half-open)` one kind of fault. `detail` is the text in parentheses.
 */
const DETAILS: Readonly<Record<string, (chapter: Chapter, detail: string) => number | null | undefined>> = {
  refused: ({ figures }, status) => figures && (figures.refused[status] ?? 0),
  failed: ({ figures }, code) => figures && (figures.failures[code] ?? 0),
  rollouts: ({ figures }, state) => figures && (figures.rolloutStates[state] ?? 0),
  connections: ({ fleet: counts }, node) => counts[CONNECTED_TO + node],
  played: ({ fleet: counts }, fault) => counts[PLAYED + fault] ?? 0,
};
export const hasDetails = (name: string): boolean => Object.hasOwn(DETAILS, name);

/** A figure of a report: a count, a count of one detail, or a percentile of a stage. */
export type FigureName =
  | { readonly kind: 'count'; readonly name: string; readonly detail: string | null }
  | { readonly kind: 'latency'; readonly percent: number; readonly stage: Stage };

/** The value of a figure in a chapter; undefined when there is none. Latencies are in milliseconds. */
export function numberOf(figure: FigureName, chapter: Chapter): number | undefined {
  const { figures } = chapter;
  if (figure.kind === 'latency') {
    const data = figures?.latency[figure.stage];
    return data && data.count > 0 ? percentile(data, figure.percent / 100) : undefined;
  }
  const { name, detail } = figure;
  if (detail !== null) return DETAILS[name]?.(chapter, detail) ?? undefined;
  return FIGURES[name]?.read(chapter);
}

/**
 * The figure in percent of its base. Undefined if the base is 0, unless the figure states a percentage for that case.
 */
export function percentOf(figure: FigureName, chapter: Chapter): number | undefined {
  const base = figure.kind === 'count' ? FIGURES[figure.name]?.base : undefined;
  const whole = base === undefined ? undefined : FIGURES[base]?.read(chapter);
  const part = numberOf(figure, chapter);
  if (whole === 0 && figure.kind === 'count') return FIGURES[figure.name]?.ofNothing;
  return part === undefined || !whole ? undefined : (100 * part) / whole;
}
