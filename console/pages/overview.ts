import { now } from '../base/clock.ts';
import { a, button, type Child, div, p, use, type VNode } from '../base/elements.ts';
import { compact, count, counted } from '../base/format.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf, filter, place, type Query } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { FailureBreakdown, FleetBreakdown, FleetSummary, HistoryPoint } from '../base/rows.ts';
import { useWatch } from '../base/watching.ts';
import { judged } from '../parts/alarms.ts';
import { figure } from '../parts/figure.ts';
import { batteryQuery, groupBars } from '../parts/groups.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { plots } from '../parts/plot.ts';
import { card, empty, since } from '../parts/show.ts';
import { shareOf } from './failures.ts';
import { stoppedRollouts } from './stopped-rollouts.ts';

const milliseconds = (value: number | null): string =>
  value === null ? '–' : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
const share = (part: number, all: number): string =>
  all === 0 ? '' : `${Math.floor((part / all) * 100)} % of the fleet`;

/** Milliseconds. A delay of the event loop above this is shown as a warning, because devices notice it. */
const SLOW_LOOP = 50;

/** The share of installations that failed in the last day; it leads to their versions, errors and devices. */
function FailedInstalls() {
  const failures = useLoad('failures', (signal) => read<FailureBreakdown>(operation('readFailures'), { signal }), {
    every: 60_000,
  });
  const { total } = failures.state.value.value ?? {};
  return figure({
    name: 'Failed installations',
    value: total ? shareOf(total.failed, total.finished) : '–',
    note: total ? `${count(total.failed)} of ${count(total.finished)} in 24 hours` : 'in 24 hours',
    href: addressOf(['failures']),
    tone: total && total.failed > 0 ? 'warn' : undefined,
  });
}

const figures = ({ devices, transactions, deliveries, receivers, commitP99Ms, loopP99Ms }: FleetSummary): VNode =>
  div(
    { class: 'figures' },
    figure({
      name: 'Connected',
      value: count(devices.connected),
      note: share(devices.connected, devices.total),
      href: addressOf(['devices'], { connected: 'true' }),
    }),
    figure({
      name: 'Activated',
      value: count(devices.activated),
      note: share(devices.activated, devices.total),
      href: addressOf(['devices'], { activation: 'activated' }),
    }),
    figure({
      name: 'Devices',
      value: count(devices.total),
      note: `${count(devices.total - devices.connected)} disconnected`,
      href: addressOf(['devices']),
    }),
    figure({
      name: 'Unfinished transactions',
      value: count(transactions.unfinished),
      note: transactions.oldestAt ? ['oldest since ', since(transactions.oldestAt)] : 'none',
      href: addressOf(['transactions'], { unfinished: 'true' }),
    }),
    figure({
      name: 'Failing receivers',
      value: count(receivers.failing),
      note: `${counted(deliveries.pending, 'webhook')} pending`,
      href: addressOf(['webhooks'], { state: 'failing' }),
      tone: receivers.failing > 0 ? 'bad' : undefined,
    }),
    use(FailedInstalls, {}),
    figure({
      name: 'Commit p99',
      value: milliseconds(commitP99Ms),
      note: 'time of a database commit',
      href: addressOf(['health']),
    }),
    figure({
      name: 'Event loop p99',
      value: milliseconds(loopP99Ms),
      note: 'delay of all other work',
      href: addressOf(['health']),
      tone: loopP99Ms !== null && loopP99Ms > SLOW_LOOP ? 'warn' : undefined,
    }),
  );

const SPANS = [
  ['15 min', 15 * 60, 10],
  ['1 h', 3600, 10],
  ['6 h', 6 * 3600, 60],
  ['24 h', 24 * 3600, 120],
  ['7 d', 7 * 86_400, 1200],
] as const;

function History() {
  const chosen = SPANS.find(([name]) => name === place.value.query['span']) ?? SPANS[0];
  const [, seconds, step] = chosen;
  const history = useLoad(
    `${seconds}`,
    (signal) => {
      const sinceThen = new Date(now.peek() - seconds * 1000).toISOString();
      return read<{ stepSeconds: number; points: HistoryPoint[] }>(operation('readHistory'), {
        query: { since: sinceThen, step },
        signal,
      });
    },
    { every: Math.max(10_000, step * 500) },
  );
  return card(
    {
      title: 'Over time',
      bare: true,
      side: div(
        { class: 'choices', role: 'group', 'aria-label': 'Time range' },
        SPANS.map(([name]) =>
          button(
            { type: 'button', key: name, 'aria-pressed': name === chosen[0], onClick: () => filter({ span: name }) },
            name,
          ),
        ),
      ),
    },
    loaded(history, ({ points, stepSeconds }) => plotsOf(points, stepSeconds, seconds)),
  );
}

/**
 * When two points are more than this many steps apart, the service was not running in between, and the line has a gap.
 */
const GAP_STEPS = 2.5;

function plotsOf(points: readonly HistoryPoint[], stepSeconds: number, spanSeconds: number): Child {
  if (points.length < 2)
    return empty({
      title: 'The history has just begun',
      text: 'A point is added every ten seconds.',
    });
  const rows: (HistoryPoint | { at: string })[] = [];
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    const gap = before ? (Date.parse(point.at) - Date.parse(before.at)) / 1000 : 0;
    if (before && gap > GAP_STEPS * stepSeconds)
      rows.push({ at: new Date(Date.parse(before.at) + stepSeconds * 1000).toISOString() });
    rows.push(point);
  }
  const to = Date.parse(points.at(-1)!.at) / 1000;
  const span = { times: rows.map(({ at }) => Date.parse(at) / 1000), from: to - spanSeconds, to };
  const of = (name: Exclude<keyof HistoryPoint, 'at'>, divided = 1): (number | null)[] =>
    rows.map((row) => ('devices' in row && row[name] !== null ? (row[name] as number) / divided : null));
  const rate = (value: number): string => `${value >= 10 || value === 0 ? compact(value) : value.toFixed(1)}/s`;
  return plots([
    {
      label: 'Devices',
      ...span,
      lines: [
        { name: 'connected', colour: 'plot-1', values: of('connected') },
        { name: 'activated', colour: 'plot-2', values: of('activated') },
      ],
    },
    {
      label: 'Transactions per second',
      ...span,
      show: rate,
      lines: [
        { name: 'created', colour: 'plot-1', values: of('created', stepSeconds) },
        { name: 'finished', colour: 'plot-2', values: of('finished', stepSeconds) },
        { name: 'failed', colour: 'plot-3', values: of('failed', stepSeconds) },
      ],
    },
    {
      label: 'Waiting',
      ...span,
      lines: [
        { name: 'commands due', colour: 'plot-1', values: of('due') },
        { name: 'webhooks pending', colour: 'plot-2', values: of('pending') },
      ],
    },
    {
      label: 'Event loop',
      ...span,
      show: (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`,
      lines: [{ name: 'event loop p99', colour: 'plot-1', values: of('loopP99Ms') }],
    },
  ]);
}

/** Milliseconds between two reads of the counts of devices; the service keeps its answer for ten seconds. */
const BREAKDOWN_EVERY = 15_000;

function Groups({
  by,
  title,
  of,
  query,
  text,
}: {
  by: string;
  title: string;
  of?: string;
  query(value: string): Query;
  text: string;
}) {
  const breakdown = useLoad(
    `${by} ${of ?? ''}`,
    (signal) => read<FleetBreakdown>(operation('readBreakdown'), { query: { by, package: of }, signal }),
    { every: BREAKDOWN_EVERY },
  );
  return card(
    { title },
    loaded(breakdown, ({ groups, others }) => {
      const ordered = by === 'battery' ? groups.toSorted((one, other) => tens(other.value) - tens(one.value)) : groups;
      return groupBars({ title, groups: ordered, others, query, none: text });
    }),
  );
}

/** The first number of a range such as `40-49`, for sorting. Devices with an unknown charge come last. */
const tens = (range: string | null): number => (range === null ? -1 : Number.parseInt(range, 10));

/** Shows how many devices have each version of a package. It is the package that most devices have installed. */
function Versions() {
  const packages = useLoad(
    'packages',
    (signal) => read<FleetBreakdown>(operation('readBreakdown'), { query: { by: 'package' }, signal }),
    { every: BREAKDOWN_EVERY },
  );
  const { value } = packages.state.value;
  if (value === undefined)
    return card(
      { title: 'Application versions' },
      loaded(packages, () => null),
    );
  const name = value.groups.find(({ value: one }) => one !== null)?.value;
  if (!name)
    return card({ title: 'Application versions' }, p({ class: 'quiet' }, 'No device has reported installed software.'));
  return use(Groups, {
    by: 'version',
    of: name,
    title: `Versions of ${name}`,
    query: (version) => ({ package: name, version }),
    text: 'No device has reported this package.',
  });
}

/** The figures of the fleet. They are asked for first, because they are what people look at first. */
function Figures() {
  const summary: Loading<FleetSummary> = useLoad('summary', (signal) =>
    read<FleetSummary>(operation('readSummary'), { signal }),
  );
  useWatch('fleet', ({ value }) => {
    summary.change((known) => ({ ...known, ...(value as Partial<FleetSummary>) }));
  });
  return loaded(summary, (value) => (value.devices.total === 0 ? begin() : figures(value)), { lines: 3 });
}

function Overview() {
  return [
    head({ title: 'Overview' }),
    judged(),
    use(Figures, {}),
    stoppedRollouts(),
    use(History, {}),
    div(
      { class: 'columns even' },
      use(Groups, {
        by: 'firmware',
        title: 'Firmware',
        query: (firmware) => ({ firmware }),
        text: 'No device has reported its firmware.',
      }),
      use(Versions, {}),
      use(Groups, {
        by: 'battery',
        title: 'Battery, in percent',
        query: batteryQuery,
        text: 'No device has reported its battery.',
      }),
    ),
  ];
}

const begin = (): VNode =>
  card(
    { title: 'No devices yet' },
    empty(
      {
        title: 'Register the first device',
        text: 'Create a developer and an application, then register devices one by one or from a file. The simulator can simulate a fleet for a try; FOLDER is the data folder of the service (lapel serve --data-dir):',
        command: 'lapel-sim run smoke --data-dir FOLDER',
      },
      a({ class: 'button', href: addressOf(['developers']) }, 'Developers'),
    ),
  );

export const overviewPage = (): VNode => use(Overview, {});
