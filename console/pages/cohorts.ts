import { now } from '../base/clock.ts';
import { type Child, div, p, span, use, type VNode } from '../base/elements.ts';
import { bytes, count, counted } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { place } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { FleetSamples } from '../base/rows.ts';
import { type Filter, filterBar, hoursAgo } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { plots } from '../parts/plot.ts';
import { samplesOff } from '../parts/samples-off.ts';
import { card, empty, nothing, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

const DAY = 24;
const EVERY = 60_000;
const COLOURS = ['plot-1', 'plot-2', 'plot-3'] as const;

type Cohort = FleetSamples['cohorts'][number];

const filters = (): readonly Filter[] => [
  {
    name: 'since',
    label: 'The last 7 days',
    choices: [
      [hoursAgo(DAY), 'the last 24 hours'],
      [hoursAgo(30 * DAY), 'the last 30 days'],
      [hoursAgo(90 * DAY), 'the last 90 days'],
    ],
  },
  { name: 'package', label: 'Package (without: firmware)' },
  { name: 'developerId', label: 'Developer' },
  { name: 'applicationId', label: 'Application' },
  { name: 'prefix', label: 'Device begins with' },
];

const perHour = (value: number): string => `${Math.round(value * 100) / 100} %/h`;
const orNothing = (value: number | null, show: (value: number) => string): Child =>
  value === null ? nothing() : span({ class: 'num' }, show(value));

/** The battery over time of the versions with the most devices. */
function overTime({ cohorts, since }: FleetSamples): Child {
  const drawn = cohorts.filter(({ points }) => points.length > 1).slice(0, COLOURS.length);
  if (drawn.length === 0) return p({ class: 'pad quiet' }, 'There are too few samples for a line.');
  const times = [...new Set(drawn.flatMap(({ points }) => points.map(({ at }) => Date.parse(at) / 1000)))].sort(
    (one, other) => one - other,
  );
  return plots([
    {
      label: 'Battery lost in an hour, by version',
      times,
      from: Date.parse(since) / 1000,
      to: now.peek() / 1000,
      show: perHour,
      lines: drawn.map(({ version, points }, index) => {
        const known = new Map(points.map(({ at, batteryDropPerHour }) => [Date.parse(at) / 1000, batteryDropPerHour]));
        return { name: version, colour: COLOURS[index]!, values: times.map((at) => known.get(at) ?? null) };
      }),
    },
  ]);
}

function shown(samples: FleetSamples): Child {
  const { keptDays, cohorts, devices, isWhole, package: name } = samples;
  if (keptDays === 0) return card({ title: 'By version', bare: true }, samplesOff());
  if (cohorts.length === 0)
    return empty({
      title: 'Nothing to compare yet',
      text: 'A device is compared when it has reported in two different hours.',
    });
  return div(
    { class: 'stack' },
    card(
      {
        title: name === null ? 'By firmware' : 'By version',
        bare: true,
        side: span(
          { class: 'quiet small' },
          isWhole ? `${counted(devices, 'device')} looked at` : `${count(devices)} devices, chosen at random`,
        ),
      },
      rowsTable<Cohort>({
        label: 'Versions',
        keyOf: ({ version }) => version,
        rows: cohorts,
        columns: [
          { name: 'Version', kind: 'lead', cell: ({ version }) => said(version) },
          { name: 'Devices', cell: ({ devices: own }) => span({ class: 'num' }, count(own)) },
          { name: 'Battery loss', cell: ({ batteryDropPerHour: drop }) => orNothing(drop, perHour) },
          {
            name: 'Connected',
            cell: ({ connectedShare: share }) => orNothing(share, (value) => `${Math.round(value * 1000) / 10} %`),
          },
          { name: 'Free storage', cell: ({ freeBytes: free }) => orNothing(free, bytes) },
        ],
      }),
    ),
    card({ title: 'Battery over time', bare: true }, overTime(samples)),
  );
}

function Cohorts() {
  const { since, package: name, developerId, applicationId, prefix } = place.value.query;
  const query = { since, package: name, developerId, applicationId, prefix };
  const samples = useLoad(
    JSON.stringify(query),
    (signal) => read<FleetSamples>(operation('readFleetSamples'), { query, signal }),
    { every: EVERY },
  );
  return [
    head({
      title: 'Compare versions',
      about:
        'Devices by the version that they had: medians of battery and free storage, and the share of time connected.',
    }),
    filterBar(filters()),
    loaded(samples, shown, { lines: 6 }),
  ];
}

export const cohortsPage = (): VNode => use(Cohorts, {});
