import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { div, small, span, strong, use, type VNode } from '../base/elements.ts';
import { compact, when } from '../base/format.ts';
import { inZone, zone, zoneName } from '../base/zone.ts';

interface Line {
  name: string;
  colour: 'plot-1' | 'plot-2' | 'plot-3';
  /** One value for each time; null where it is unknown. */
  values: readonly (number | null)[];
}

interface Plot {
  label: string;
  /** The times of the values, in seconds since the epoch, in rising order. */
  times: readonly number[];
  /** The first and the last time of the axis. Where there are no values in between, the plot is empty. */
  from: number;
  to: number;
  lines: readonly Line[];
  show?(value: number): string;
}

const HEIGHT = 148;

const colourOf = (element: Element, name: string): string =>
  getComputedStyle(element).getPropertyValue(`--${name}`).trim();

const DAY = 86_400;
const exact = inZone({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const clock = inZone({ hour: '2-digit', minute: '2-digit' });
const day = inZone({ day: 'numeric', month: 'short' });
/** Formats a tick of an axis of counts. A fraction gets no label, because counts are whole numbers. */
const wholeOnly = (value: number): string => (Number.isInteger(value) ? compact(value) : '');
/** Formats a time as the label of a tick, when the ticks are `step` seconds apart. */
const timeOf = (seconds: number, step: number): string =>
  (step >= DAY ? day : step < 60 ? exact : clock)().format(seconds * 1000);

function optionsOf(
  box: HTMLElement,
  latest: () => Plot,
  width: number,
  pointed: (index: number | null) => void,
): uPlot.Options {
  const { lines, show = wholeOnly } = latest();
  const axis = {
    stroke: colourOf(box, 'plot-axis'),
    grid: { stroke: colourOf(box, 'plot-grid'), width: 1 },
    ticks: { show: false },
    font: `12px ${getComputedStyle(box).fontFamily}`,
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, 24, 0, 0],
    ...(zone.peek() === 'utc' && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
    hooks: { setCursor: [({ cursor }) => pointed(cursor.idx ?? null)] },
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    scales: {
      x: { range: () => [latest().from, latest().to] },
      y: { range: (_, low, high) => [Math.min(0, low), Math.max(high * 1.08, 1)] },
    },
    axes: [
      { ...axis, size: 28, space: 72, values: (_, ticks, __, ___, step) => ticks.map((tick) => timeOf(tick, step)) },
      { ...axis, size: 52, values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : show(tick))) },
    ],
    series: [
      {},
      ...lines.map(({ name, colour }, index) => ({
        label: name,
        stroke: colourOf(box, colour),
        width: 1.6,
        points: { show: false },
        spanGaps: false,
        ...(index === 0 &&
          lines.length === 1 && { fill: `color-mix(in oklab, ${colourOf(box, colour)} 12%, transparent)` }),
      })),
    ],
  };
}

/**
 * A plot over time. It is drawn again when the browser changes between dark and light, because a canvas does not follow
 * CSS colours.
 */
function Drawn(plot: Plot) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  /** The index of the values under the cursor; null while it is elsewhere. */
  const at = useSignal<number | null>(null);
  const latest = useRef(plot);
  latest.current = plot;
  const data = (): uPlot.AlignedData => [
    latest.current.times as number[],
    ...latest.current.lines.map(({ values }) => values as (number | null)[]),
  ];

  useEffect(() => {
    const element = box.current!;
    const draw = (): void => {
      drawn.current?.destroy();
      drawn.current = new uPlot(
        optionsOf(
          element,
          () => latest.current,
          Math.max(120, element.clientWidth),
          (index) => (at.value = index),
        ),
        data(),
        element,
      );
    };
    draw();
    const resized = new ResizeObserver(() =>
      drawn.current?.setSize({ width: Math.max(120, element.clientWidth), height: HEIGHT }),
    );
    resized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    return () => {
      dark.removeEventListener('change', draw);
      resized.disconnect();
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [zone.value]);
  useEffect(() => drawn.current?.setData(data()), [plot.times, plot.lines, plot.to]);

  const { label, lines, show = compact } = plot;
  const last = (values: Line['values']): number | null | undefined => values.findLast((value) => value !== null);
  const words = lines
    .map(({ name, values }) => `${name} ${last(values) == null ? 'unknown' : show(last(values)!)}`)
    .join(', ');
  const seconds = at.value === null ? undefined : plot.times[at.value];
  const shown = (values: Line['values']): string => {
    const value = seconds === undefined ? last(values) : values[at.value!];
    return value == null ? '–' : show(value);
  };
  return div(
    { class: 'plot' },
    div(
      { class: 'legend' },
      lines.map(({ name, colour, values }) =>
        span({ class: colour, key: name }, `${name} `, strong(null, shown(values))),
      ),
      small(
        { class: 'quiet num' },
        seconds === undefined ? `times in ${zoneName()}` : when(new Date(seconds * 1000).toISOString()),
      ),
    ),
    div({ ref: box, role: 'img', 'aria-label': `${label}; now ${words}` }),
  );
}

export const plot = (what: Plot): VNode => use(Drawn, what);
