import { type Html, html } from './html.ts';
import type { Scale } from './scales.ts';

/** A line through a plot. Places with null are gaps. */
export interface Line {
  readonly name: string;
  /** The CSS class that sets its colour. */
  readonly look: string;
  readonly points: readonly { readonly x: number; readonly y: number | null }[];
  /** Whether the area below it is filled. */
  readonly filled?: boolean;
}

/** A span along the x axis: a phase. */
export interface Band {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

// Only lines are drawn inside this SVG, because it is stretched to the width of the page, and text would be stretched
// with it.
const WIDTH = 1000;
const HEIGHT = 300;
const px = (share: number): string => String(Number((share * WIDTH).toFixed(1)));
const py = (share: number): string => String(Number(((1 - share) * HEIGHT).toFixed(1)));
const percentage = (share: number): string => `${Number((100 * share).toFixed(2))}%`;

/** The parts of a line without gaps, in the coordinates of the drawing. */
function strokes({ points }: Line, x: Scale, y: Scale): { x: string; y: string }[][] {
  const parts: { x: string; y: string }[][] = [[]];
  for (const point of points) {
    if (point.y === null) parts.push([]);
    else parts.at(-1)!.push({ x: px(x.at(point.x)), y: py(y.at(point.y)) });
  }
  return parts.filter((part) => part.length > 0);
}

function drawn(line: Line, x: Scale, y: Scale): Html[] {
  return strokes(line, x, y).map((part) => {
    const path = part.map((point, place) => `${place === 0 ? 'M' : 'L'}${point.x} ${point.y}`).join('');
    // A single point would be a stroke without length, which round ends make a dot.
    const stroke = part.length === 1 ? `${path}h0` : path;
    const area = `${path}L${part.at(-1)!.x} ${HEIGHT}L${part[0]!.x} ${HEIGHT}Z`;
    const fill = line.filled ? html`<path class="area ${line.look}" d="${area}"/>` : null;
    return html`${fill}<path class="line ${line.look}" d="${stroke}"/>`;
  });
}

/** Whether there is room for the name of a band. */
const roomFor = ({ from, to, name }: Band, x: Scale): boolean => x.at(to) - x.at(from) > 0.012 * (name.length + 1);

/**
 * A plot of lines over an axis, with a legend, for every width, in light and dark. `hints` are texts for places of the
 * x axis, shown where the pointer rests.
 */
export function linePlot({
  title,
  note,
  x,
  y,
  lines,
  bands = [],
  hints = [],
  upright = false,
}: {
  title: string;
  note: string;
  x: Scale;
  y: Scale;
  lines: readonly Line[];
  bands?: readonly Band[];
  hints?: readonly { readonly x: number; readonly text: string }[];
  /** Whether the grid has vertical lines, too. */
  upright?: boolean;
}): Html {
  const width = hints.length > 0 ? WIDTH / hints.length : 0;
  const legend = lines.map(({ name, look }) => html`<li><i class="${look}"></i>${name}</li>`);
  return html`<figure class="plot">
<figcaption><h3>${title}</h3><p class="note">${note}</p><ul class="legend">${legend}</ul></figcaption>
<div class="frame">
<div class="ys">${y.ticks.map(({ at, label }) => html`<span style="bottom:${percentage(at)}">${label}</span>`)}</div>
<div class="field">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}">
${bands.map(
  ({ from, to }, place) =>
    html`<rect class="band${place % 2 === 1 ? ' odd' : ''}" x="${px(x.at(from))}" y="0" width="${px(x.at(to) - x.at(from))}" height="${HEIGHT}"/>`,
)}
${y.ticks.map(({ at }) => html`<path class="grid" d="M0 ${py(at)}H${WIDTH}"/>`)}
${upright ? x.ticks.map(({ at }) => html`<path class="grid" d="M${px(at)} 0V${HEIGHT}"/>`) : null}
${lines.flatMap((line) => drawn(line, x, y))}
${hints.map(({ x: at, text }) => html`<rect class="hint" x="${px(Math.max(0, x.at(at) - width / WIDTH / 2))}" y="0" width="${width.toFixed(1)}" height="${HEIGHT}"><title>${text}</title></rect>`)}
</svg>
${bands
  .filter((band) => roomFor(band, x))
  .map(
    ({ name, from, to }) =>
      html`<span class="phase" style="left:${percentage(x.at(from))};width:${percentage(x.at(to) - x.at(from))}">${name}</span>`,
  )}
</div>
<div class="xs">${x.ticks.map(({ at, label }) => html`<span class="${at > 0.97 ? 'end' : ''}" style="left:${percentage(at)}">${label}</span>`)}</div>
</div>
</figure>`;
}

/** Horizontal bars of counts; the longest one has the full width. */
export function bars({
  title,
  note,
  rows,
  shown,
}: {
  title: string;
  note: string;
  rows: readonly { readonly name: string; readonly value: number; readonly look: string }[];
  shown: (value: number) => string;
}): Html {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  const list = rows.map(
    ({ name, value, look }) =>
      html`<div class="row"><dt>${name}</dt><dd><i class="${value > 0 ? look : 'zero'}" style="width:${percentage(value / most)}"></i><b>${shown(value)}</b></dd></div>`,
  );
  const none = rows.length === 0 ? html`<p class="none">None.</p>` : null;
  return html`<figure class="plot"><figcaption><h3>${title}</h3><p class="note">${note}</p></figcaption><dl class="bars">${list}</dl>${none}</figure>`;
}
