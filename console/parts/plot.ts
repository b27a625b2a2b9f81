import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { div, h3, p, small, span, strong, use, type VNode } from '../base/elements.ts';
import { compact, when } from '../base/format.ts';
import { alone, DAY, distinct, timeLabels } from '../base/ticks.ts';
import { zone, zoneName } from '../base/zone.ts';

interface Line {
  name: string;
  colour: 'plot-1' | 'plot-2' | 'plot-3';
  /** One value for each time; null where it is unknown. */
  values: readonly (number | null)[];
}

export interface Plot {
  /** The title. */
  label: string;
  /** The times of the values, in seconds since the epoch, in rising order. */
  times: readonly number[];
  /** The first and the last time of the axis. Where there are no values in between, the plot is empty. */
  from: number;
  to: number;
  lines: readonly Line[];
  show?(value: number): string;
  /** The axis of the values; by default from 0 to a little above the highest one. */
  range?: readonly [low: number, high: number];
  /** Each value holds until the next time, instead of leading to it. */
  isStepped?: boolean;
  /** Times that are marked by a line from top to bottom, in seconds. */
  marks?: readonly number[];
}

/** Draws the marks over the lines. */
function drawMarks(drawn: uPlot, marks: readonly number[], colour: string): void {
  const { ctx, bbox } = drawn;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([3, 3]);
  ctx.beginPath();
  for (const mark of marks) {
    const at = Math.round(drawn.valToPos(mark, 'x', true));
    if (at < bbox.left || at > bbox.left + bbox.width) continue;
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}

const HEIGHT = 148;

const colourOf = (element: Element, name: string): string =>
  getComputedStyle(element).getPropertyValue(`--${name}`).trim();

/** Formats a tick of an axis of counts. A fraction gets no label, because counts are whole numbers. */
const wholeOnly = (value: number): string => (Number.isInteger(value) ? compact(value) : '');
/** The pixels between the labels of an axis and what is beside them. */
const AXIS_GAP = 14;

/** The pixels that the widest of the labels needs in a font, so that none is cut. */
function widthOf({ ctx }: uPlot, labels: readonly string[] | null, font: string): number {
  ctx.font = font;
  return Math.ceil(Math.max(0, ...(labels ?? []).map((label) => ctx.measureText(label).width))) + AXIS_GAP;
}

function optionsOf(
  box: HTMLElement,
  latest: () => Plot,
  width: number,
  pointed: (index: number | null) => void,
): uPlot.Options {
  const { lines, show = wholeOnly, from, to, range, isStepped } = latest();
  const isLong = to - from > DAY;
  /** Half of the width of a label of the times, which may stand at either end of the axis. */
  const halfLabel = isLong ? 44 : 28;
  const axis = {
    stroke: colourOf(box, 'plot-axis'),
    grid: { stroke: colourOf(box, 'plot-grid'), width: 1 },
    ticks: { show: false },
    font: `12px ${getComputedStyle(box).fontFamily}`,
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, halfLabel, 0, 0],
    ...(zone.peek() === 'utc' && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
    hooks: {
      setCursor: [({ cursor }) => pointed(cursor.idx ?? null)],
      draw: [(drawn) => drawMarks(drawn, latest().marks ?? [], colourOf(box, 'plot-axis'))],
    },
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    scales: {
      x: { range: () => [latest().from, latest().to] },
      y: { range: (_, low, high) => (range ? [...range] : [Math.min(0, low), Math.max(high * 1.08, 1)]) },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: isLong ? 112 : 76,
        values: (_, ticks, __, ___, step) => timeLabels(ticks, step, isLong),
      },
      {
        ...axis,
        size: (drawn, labels) => Math.max(halfLabel, widthOf(drawn, labels, axis.font)),
        gap: 6,
        values: (_, ticks) => distinct(ticks.map((tick) => (tick === null ? '' : show(tick)))),
      },
    ],
    series: [
      {},
      ...lines.map(({ name, colour }, index) => ({
        label: name,
        stroke: colourOf(box, colour),
        width: 1.6,
        // A value between two gaps has no line.
        points: {
          show: true,
          size: 5,
          fill: colourOf(box, colour),
          filter: (drawn: uPlot, at: number) => alone(drawn.data[at]!),
        },
        ...(isStepped && { paths: uPlot.paths.stepped!({ align: 1 }) }),
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
  useEffect(() => drawn.current?.setData(data()), [plot.times, plot.lines, plot.marks, plot.to]);

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
    h3(null, label),
    div(
      { class: 'legend' },
      lines.map(({ name, colour, values }) =>
        span({ class: colour, key: name }, `${name} `, strong(null, shown(values))),
      ),
      seconds === undefined ? null : small({ class: 'quiet num' }, when(new Date(seconds * 1000).toISOString())),
    ),
    div({ ref: box, role: 'img', 'aria-label': `${label}; now ${words}` }),
  );
}

const Zone = () => p({ class: 'zone quiet small' }, `Times in ${zoneName()}.`);

/** The plots of a card, side by side. They have one zone, which is said once. */
export const plots = (all: readonly Plot[]): VNode =>
  div(
    null,
    div(
      { class: 'plots' },
      all.map((one) => use(Drawn, { ...one, key: one.label })),
    ),
    use(Zone, {}),
  );
