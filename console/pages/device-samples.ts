import { now } from '../base/clock.ts';
import { a, button, type Child, div, li, p, span, time, ul, use, type VNode } from '../base/elements.ts';
import { bytes, count, when } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, filter, place } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { DeviceSamples } from '../base/rows.ts';
import { loaded } from '../parts/loaded.ts';
import { plots } from '../parts/plot.ts';
import { samplesOff } from '../parts/samples-off.ts';
import { card, said } from '../parts/show.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
/** The periods, each with its length and the distance of its points in seconds. */
const SPANS = [
  ['Day', DAY, HOUR],
  ['Week', 7 * DAY, HOUR],
  ['Month', 30 * DAY, 6 * HOUR],
  ['3 months', 90 * DAY, DAY],
] as const;
const EVERY = 60_000;
/** The most changes of versions that are listed, the newest first. */
const MOST_CHANGES = 12;

type Point = DeviceSamples['points'][number];

const secondsOf = (at: string): number => Date.parse(at) / 1000;

/**
 * The known values of a line. Two that are further apart than a day, or than two points are usually, are not connected; a
 * value alone is as wide as its step.
 */
function lineOf(points: readonly Point[], step: number, of: (point: Point) => number | null) {
  const known = points.flatMap((point) => {
    const value = of(point);
    return value === null ? [] : [{ at: secondsOf(point.at), value }];
  });
  const line: { times: number[]; values: (number | null)[] } = { times: [], values: [] };
  for (const [index, { at, value }] of known.entries()) {
    line.times.push(at);
    line.values.push(value);
    const next = known[index + 1];
    if (next && next.at - at <= Math.max(DAY, 2.5 * step)) continue;
    line.times.push(at + step / 2, at + (3 * step) / 4);
    line.values.push(value, null);
  }
  return line;
}

const percent = (value: number): string => `${Math.round(value)} %`;

function shown({ points, changes, stepSeconds: step, since, keptDays }: DeviceSamples): Child {
  const [from, to] = [secondsOf(since), now.peek() / 1000];
  const marks = changes.map(({ at }) => secondsOf(at));
  const connected = points.filter(({ connectedShare }) => connectedShare !== null);
  const ofReports = [
    ['Battery', 'plot-1', ({ battery }: Point) => battery, percent, [0, 100]],
    ['Signal', 'plot-2', ({ rssi }: Point) => rssi, (value: number) => `${Math.round(value)} dBm`, [-110, -20]],
    ['Free storage', 'plot-3', ({ freeBytes }: Point) => freeBytes, bytes, undefined],
  ] as const;
  const drawn = ofReports.map(([, , of], index) => ({ ...lineOf(points, step, of), of: ofReports[index]! }));
  const missing = drawn.filter(({ times }) => times.length === 0).map(({ of: [name] }) => name.toLowerCase());
  return [
    plots([
      {
        label: 'Connected',
        from,
        to,
        times: [...connected.map(({ at }) => secondsOf(at)), to],
        lines: [
          {
            name: 'connected',
            colour: 'plot-2',
            values: [...connected, ...connected.slice(-1)].map(({ connectedShare }) => 100 * (connectedShare ?? 0)),
          },
        ],
        show: percent,
        range: [0, 105],
        isStepped: true,
        marks,
      },
      ...(keptDays === 0 ? [] : drawn)
        .filter(({ times }) => times.length > 0)
        .map(({ times, values, of: [name, colour, , show, range] }) => ({
          label: name,
          from,
          to,
          times,
          lines: [{ name: name.toLowerCase(), colour, values }],
          show,
          ...(range && { range }),
          marks,
        })),
    ]),
    keptDays === 0 || missing.length === 0
      ? null
      : p({ class: 'pad quiet' }, `Not reported in this period: ${missing.join(', ')}.`),
    keptDays === 0 ? samplesOff() : changed(changes),
  ];
}

function changed(changes: DeviceSamples['changes']): Child {
  if (changes.length === 0) return div({ class: 'pad quiet' }, 'No version has changed in this period.');
  return div(
    { class: 'pad' },
    span({ class: 'quiet small' }, 'Versions that changed, marked above'),
    ul(
      { 'aria-label': 'Versions that changed' },
      changes
        .toReversed()
        .slice(0, MOST_CHANGES)
        .map(({ at, package: name, was, version }) =>
          li(
            { key: `${at} ${name}` },
            time({ dateTime: at, class: 'num' }, when(at)),
            ' ',
            name === null ? 'firmware' : said(name),
            ' ',
            said(was ?? 'new'),
            ' → ',
            said(version ?? 'removed'),
          ),
        ),
    ),
    changes.length > MOST_CHANGES
      ? span({ class: 'quiet small' }, `and ${count(changes.length - MOST_CHANGES)} before`)
      : null,
  );
}

function Samples({ deviceId }: { deviceId: string }) {
  const [chosen, seconds, step] = SPANS.find(([name]) => name === place.value.query['span']) ?? SPANS[0];
  const samples = useLoad(
    `${deviceId} ${chosen}`,
    (signal) =>
      read<DeviceSamples>(operation('readDeviceSamples', { deviceId }), {
        query: { since: new Date(now.peek() - seconds * 1000).toISOString(), step },
        signal,
      }),
    { every: EVERY },
  );
  return card(
    {
      title: 'Over time',
      bare: true,
      side: div(
        { class: 'row small' },
        a({ href: addressOf(['cohorts']) }, 'Compare versions'),
        div(
          { class: 'choices', role: 'group', 'aria-label': 'Period' },
          SPANS.map(([name]) =>
            button(
              { type: 'button', key: name, 'aria-pressed': name === chosen, onClick: () => filter({ span: name }) },
              name,
            ),
          ),
        ),
      ),
    },
    loaded(samples, shown, { lines: 4 }),
  );
}

/** The reports of the device over time, and its connections. */
export const deviceSamples = (deviceId: string): VNode => use(Samples, { deviceId, key: `${deviceId} samples` });
