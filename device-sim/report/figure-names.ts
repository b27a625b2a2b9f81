import type { Figures, Stage } from '../customer/figures.ts';
import { percentile } from '../histogram.ts';
import type { Chapter } from './record.ts';

/** A number that a report has of each phase: what it is, and what it is a share of when it is wanted in percent. */
interface Named {
  readonly about: string;
  readonly base?: string;
  readonly read: (chapter: Chapter) => number | undefined;
  /** Only of the whole run. */
  readonly whole?: true;
  readonly unit?: '/s' | 'bytes';
  /** In percent, where there is nothing that it could be a share of; without it there is nothing to measure. */
  readonly ofNothing?: number;
}

/** In the counts of the fleet: how often each fault was played that the scenario names. */
export const PLAYED = 'played ';

/** What got a 201 and is in none of the figures of what became of it; 0 in books that are right. */
const unaccounted = ({ accepted, succeeded, failed, cancelled, unfinished, lost, eventsLost }: Figures): number =>
  Math.abs(accepted - succeeded - failed - cancelled - unfinished - (lost - eventsLost));

/** Those that devices saw, and those that the books show. */
export const violationsIn = ({ figures, fleet: counts }: Chapter): number | undefined =>
  counts['violations'] === undefined && !figures ? undefined : (counts['violations'] ?? 0) + (figures?.violations ?? 0);

const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);

type Count = { [Name in keyof Figures]: Figures[Name] extends number ? Name : never }[keyof Figures];
const customer = (name: Count, about: string, base?: string): [string, Named] => [
  name,
  { about, ...(base !== undefined && { base }), read: ({ figures }) => figures?.[name] },
];
const fleet = (name: string, about: string, more: Partial<Named> = {}): [string, Named] => [
  name,
  { about, read: ({ fleet }) => fleet[name], ...more },
];

/** What can be expected of, by name. */
export const FIGURES: Readonly<Record<string, Named>> = Object.fromEntries([
  customer('lost', 'transactions and events that the service took and whose result never came', 'accepted'),
  customer('doubled', 'results, commands or events that came twice', 'accepted'),
  customer('late', 'results that came later than `lateAfter` after the answer', 'accepted'),
  customer('unordered', 'commands that came after a later one of their device', 'accepted'),
  customer('reused', 'ids of transactions that were accepted twice', 'accepted'),
  [
    'unaccounted',
    {
      about:
        'what is missing, or too much, in `accepted` = `succeeded` + `failed` + `cancelled` + `unfinished` + `lost`',
      base: 'accepted',
      read: ({ figures }) => (figures ? unaccounted(figures) : undefined),
    },
  ] as [string, Named],
  customer('forged', 'webhooks whose signature does not hold'),
  customer('unasked', 'results of transactions that this run did not ask for'),
  customer('requests', 'calls that were to make a transaction'),
  customer('accepted', 'calls that got a 201', 'requests'),
  customer('errors', 'calls that got a 5xx, or no answer', 'requests'),
  customer('postponed', 'times that a call waited because of a 429', 'requests'),
  [
    'refused',
    {
      about: 'calls that got a 4xx; `refused(404)` those with one status',
      base: 'requests',
      read: ({ figures }) => figures && sum(figures.refused),
    },
  ] as [string, Named],
  customer('delivered', 'transactions whose command came to the device', 'accepted'),
  customer('succeeded', 'transactions with the result `succeeded`', 'accepted'),
  customer('failed', 'transactions with the result `failed`; `failed(CODE)` those with one code', 'accepted'),
  customer('cancelled', 'transactions with the result `cancelled`', 'accepted'),
  customer('unfinished', 'transactions of devices that are away or have not answered', 'accepted'),
  customer('repeated', 'webhooks that came once more under the same webhook-id'),
  customer('eventsTold', 'events of devices that the service took'),
  customer('eventsReceived', 'those that came to the customer', 'eventsTold'),
  customer('eventsLost', 'those that never came', 'eventsTold'),
  customer('eventsDoubled', 'those that came twice', 'eventsTold'),
  fleet('devices', 'devices'),
  fleet('connected', 'devices that are connected at the end of the phase', { base: 'devices' }),
  fleet('activated', 'devices that are activated at the end of the phase', { base: 'devices' }),
  fleet('connections', 'connections that were made'),
  fleet('losses', 'connections that ended unwanted', { base: 'connections' }),
  fleet('connectFailures', 'times that a device gave up connecting'),
  fleet('commands', 'commands that came, also again'),
  fleet('repetitions', 'commands that a device knew already', { base: 'commands' }),
  fleet('downloads', 'downloads that came to an end, good or bad'),
  fleet('calls', 'calls that began'),
  fleet('uploads', 'recordings and files that arrived'),
  fleet('uploadFailures', 'recordings and files that were given up'),
  fleet('complaints', 'messages of devices that the service complained about'),
  [
    'violations',
    {
      about: 'breaches of the contract by the service, as the devices and the books of the customer saw them',
      read: violationsIn,
    },
  ] as [string, Named],
  fleet('planned', 'actions that were due'),
  fleet('made', 'actions that were begun', { base: 'planned', ofNothing: 100 }),
  fleet('skipped', 'actions that there was no time for: the service was slower than their rate', { base: 'planned' }),
  [
    'played',
    {
      about: 'faults that were played; `played(half-open)` those of one kind',
      read: ({ fleet: counts }) =>
        sum(Object.fromEntries(Object.entries(counts).filter(([name]) => name.startsWith(PLAYED)))),
    },
  ] as [string, Named],
  fleet('connectRate', 'connections a second while the fleet connected at the start', { whole: true, unit: '/s' }),
  fleet('memoryPerDevice', 'bytes of this process for each device', { whole: true, unit: 'bytes' }),
]);

/** Those with a name in parentheses: by status, by code. */
const DETAILS: Readonly<Record<string, (chapter: Chapter, detail: string) => number | null | undefined>> = {
  refused: ({ figures }, status) => figures && (figures.refused[status] ?? 0),
  failed: ({ figures }, code) => figures && (figures.failures[code] ?? 0),
  played: ({ fleet: counts }, fault) => counts[PLAYED + fault] ?? 0,
};
export const hasDetails = (name: string): boolean => Object.hasOwn(DETAILS, name);

/** A figure of a report: a count, a count of one detail, or a percentile of a stage. */
export type FigureName =
  | { readonly kind: 'count'; readonly name: string; readonly detail: string | null }
  | { readonly kind: 'latency'; readonly percent: number; readonly stage: Stage };

/** Its value in a chapter; undefined when there is none. Latencies in milliseconds. */
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

/** In percent of what it is a share of; undefined where that is nothing. */
export function percentOf(figure: FigureName, chapter: Chapter): number | undefined {
  const base = figure.kind === 'count' ? FIGURES[figure.name]?.base : undefined;
  const whole = base === undefined ? undefined : FIGURES[base]?.read(chapter);
  const part = numberOf(figure, chapter);
  if (whole === 0 && figure.kind === 'count') return FIGURES[figure.name]?.ofNothing;
  return part === undefined || !whole ? undefined : (100 * part) / whole;
}
