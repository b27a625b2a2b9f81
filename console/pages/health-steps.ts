import { now } from '../base/clock.ts';
import { a, button, type Child, div, p, use, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, filter, place } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { FleetHealth } from '../base/rows.ts';
import { loaded } from '../parts/loaded.ts';
import { type Plot, plots } from '../parts/plot.ts';
import { bareId, card, nothing } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

const SPANS = [
  ['1 h', 3600, 300],
  ['6 h', 6 * 3600, 300],
  ['24 h', 24 * 3600, 600],
  ['7 d', 7 * 86_400, 3600],
] as const;
const EVERY = 15_000;

type Step = FleetHealth['steps'][number]['step'];
type Point = FleetHealth['points'][number];

const WORDS: Readonly<Record<Step, readonly [name: string, about: string, waits: string]>> = {
  published: ['Published', 'from the call to the first publish', 'waiting for their device'],
  received: ['Received', 'from a publish to its PUBACK', 'waiting for a PUBACK'],
  answered: ['Answered', 'from the PUBACK to the result', 'waiting for a result'],
  delivered: ['Webhook delivered', 'from the result, or an event, to the 2xx answer', 'webhooks waiting'],
};
const STEPS = Object.keys(WORDS) as Step[];

/** Formats milliseconds, which may be days for the steps of a device that is offline. */
export function howLong(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

const waitingPlace = (step: Step): string =>
  step === 'delivered'
    ? addressOf(['webhooks'], { status: 'pending' })
    : addressOf(['transactions'], { unfinished: 'true' });

const funnel = ({ accepted, steps }: FleetHealth): VNode =>
  rowsTable({
    label: 'Steps of commands',
    rows: [{ step: 'accepted' as const, count: accepted }, ...steps],
    keyOf: ({ step }) => step,
    columns: [
      {
        name: 'Step',
        kind: 'lead',
        cell: ({ step }) =>
          step === 'accepted'
            ? ['Accepted', p({ class: 'quiet small' }, 'calls that made a command')]
            : [WORDS[step][0], p({ class: 'quiet small' }, WORDS[step][1])],
      },
      { name: 'Count', kind: 'right', cell: (row) => count(row.count) },
      {
        name: 'Waiting now',
        cell: (row) => {
          if (!('waiting' in row)) return nothing();
          const words = WORDS[row.step][2];
          if (row.waiting === null) return a({ href: waitingPlace(row.step) }, `more than can be counted at once`);
          return row.waiting === 0 ? nothing() : a({ href: waitingPlace(row.step) }, `${count(row.waiting)} ${words}`);
        },
      },
      { name: 'p50', kind: 'right', cell: (row) => ('p50Ms' in row ? howLong(row.p50Ms) : nothing()) },
      { name: 'p99', kind: 'right', cell: (row) => ('p99Ms' in row ? howLong(row.p99Ms) : nothing()) },
    ],
  });

const share = (part: number, all: number): string => (all === 0 ? '–' : `${((part / all) * 100).toFixed(1)} %`);

const routes = ({ routes: rows }: FleetHealth): VNode =>
  rows.length === 0
    ? p({ class: 'pad quiet' }, 'The API was not called in this time.')
    : rowsTable({
        label: 'Routes of the API',
        rows,
        keyOf: ({ route }) => route,
        columns: [
          { name: 'Route', kind: 'lead', cell: ({ route }) => bareId(route) },
          { name: 'Requests', kind: 'right', cell: ({ requests }) => count(requests) },
          {
            name: 'Errors (5xx)',
            kind: 'right',
            cell: ({ failed, requests }) =>
              failed === 0 ? nothing() : `${count(failed)} (${share(failed, requests)})`,
          },
          {
            name: 'Refused (4xx)',
            kind: 'right',
            cell: ({ refused, requests }) =>
              refused === 0 ? nothing() : `${count(refused)} (${share(refused, requests)})`,
          },
          { name: 'p50', kind: 'right', cell: ({ p50Ms }) => howLong(p50Ms) },
          { name: 'p99', kind: 'right', cell: ({ p99Ms }) => howLong(p99Ms) },
        ],
      });

function plotsOf({ points, stepSeconds }: FleetHealth, seconds: number): Child {
  if (points.length < 2)
    return p({ class: 'pad quiet' }, 'The history has just begun. A point is added every five minutes.');
  const times = points.map(({ at }) => Date.parse(at) / 1000);
  const to = times.at(-1)! + stepSeconds;
  const span = { times, from: to - seconds - stepSeconds, to };
  const of = (value: (point: Point) => number | null): (number | null)[] => points.map(value);
  return plots([
    ...STEPS.map(
      (step): Plot => ({
        label: `${WORDS[step][0]}: time`,
        ...span,
        show: howLong,
        lines: [
          { name: 'p50', colour: 'plot-1', values: of((point) => point[step].p50Ms) },
          { name: 'p99', colour: 'plot-3', values: of((point) => point[step].p99Ms) },
        ],
      }),
    ),
    {
      label: 'API: share of errors (5xx)',
      ...span,
      show: (value) => `${value.toFixed(1)} %`,
      lines: [
        {
          name: 'errors',
          colour: 'plot-3',
          values: of(({ failed, requests }) => (requests === 0 ? null : (failed / requests) * 100)),
        },
      ],
    },
  ]);
}

function Steps(): Child {
  const chosen = SPANS.find(([name]) => name === place.value.query['span']) ?? SPANS[2];
  const [, seconds, step] = chosen;
  const health = useLoad(
    `${seconds}`,
    (signal) => {
      const since = new Date(now.peek() - seconds * 1000).toISOString();
      return read<FleetHealth>(operation('readFleetHealth'), { query: { since, step }, signal });
    },
    { every: EVERY },
  );
  const choices = div(
    { class: 'choices', role: 'group', 'aria-label': 'Time range' },
    SPANS.map(([name]) =>
      button(
        { type: 'button', key: name, 'aria-pressed': name === chosen[0], onClick: () => filter({ span: name }) },
        name,
      ),
    ),
  );
  return [
    card({ title: 'From the call to the webhook', bare: true, side: choices }, loaded(health, funnel)),
    card(
      { title: 'Times of the steps', bare: true },
      loaded(health, (value) => plotsOf(value, seconds)),
    ),
    card({ title: 'Routes of the API', bare: true }, loaded(health, routes)),
  ];
}

/** How many commands took each step, how long it took, and what waits where; the answers of the API by route. */
export const stepsCards = (): VNode => use(Steps, {});
