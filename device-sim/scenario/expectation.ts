import { STAGES, type Stage } from '../customer/figures.ts';
import { FIGURES, type FigureName, hasDetails, numberOf, percentOf } from '../report/figure-names.ts';
import type { Chapter, Verdict } from '../report/record.ts';
import * as show from '../show.ts';
import { among } from './among.ts';
import { bytes, duration } from './quantities.ts';

const OPERATORS = {
  '==': (value: number, wanted: number) => value === wanted,
  '!=': (value: number, wanted: number) => value !== wanted,
  '<': (value: number, wanted: number) => value < wanted,
  '<=': (value: number, wanted: number) => value <= wanted,
  '>': (value: number, wanted: number) => value > wanted,
  '>=': (value: number, wanted: number) => value >= wanted,
} as const;

type Unit = 'count' | '%' | 'ms' | 'bytes' | '/s';

/** Something that has to hold at the end. */
export interface Expectation {
  /** As it was written. */
  readonly text: string;
  /** The phase that it is about; null: the whole run. */
  readonly phase: string | null;
  readonly figure: FigureName;
  readonly operator: keyof typeof OPERATORS;
  readonly wanted: number;
  readonly unit: Unit;
}

const FORM = /^\s*(\w[\w.]*)\s*(?:\(\s*([\w-]+)\s*\))?\s*(==|!=|<=|>=|<|>)\s*([\d.]+)\s*(%|\/s|[A-Za-z]*)\s*$/;
const PERCENTILE = /^p(\d{1,2}(?:\.\d+)?|100)$/;
const TIMES = ['ms', 's', 'm', 'h', 'd'];
const SIZES = ['B', 'kB', 'KiB', 'MB', 'MiB', 'GB', 'GiB'];

/** The figure of a name and of what stands in parentheses behind it; a text is what is wrong. */
function figureOf(name: string, detail: string | null): FigureName | string {
  const [, percent] = PERCENTILE.exec(name) ?? [];
  if (percent !== undefined || name === 'max') {
    if (!STAGES.includes(detail as Stage))
      return `${name} needs a stage: ${STAGES.map((s) => `${name}(${s})`).join(', ')}`;
    return { kind: 'latency', percent: percent === undefined ? 100 : Number(percent), stage: detail as Stage };
  }
  if (!Object.hasOwn(FIGURES, name))
    return `there is no figure "${name}"; ${among(name, [...Object.keys(FIGURES), 'p99', 'max'])}`;
  if (detail !== null && !hasDetails(name)) return `${name} has nothing in parentheses`;
  return { kind: 'count', name, detail };
}

/** The unit that a figure is measured in, and the number in it; a text is what is wrong. */
function measureOf(figure: FigureName, amount: string, unit: string): { wanted: number; unit: Unit } | string {
  const wanted = Number(amount);
  if (!Number.isFinite(wanted)) return `${amount} is no number`;
  if (figure.kind === 'latency') {
    if (!TIMES.includes(unit)) return `a percentile is compared with a time, such as ${amount} s`;
    return { wanted: duration(`${amount}${unit}`), unit: 'ms' };
  }
  const { base, unit: own = 'count' } = FIGURES[figure.name]!;
  if (unit === '%') return base === undefined ? `${figure.name} is no share of anything` : { wanted, unit };
  if (own === 'bytes' && SIZES.includes(unit)) return { wanted: bytes(`${amount}${unit}`), unit: 'bytes' };
  if (unit === '' || unit === own) return { wanted, unit: own };
  return `${figure.name} is not measured in ${unit}`;
}

/** Understands `lost == 0`, `succeeded >= 99 %`, `p99(delivered) < 2 s`; a text says what is wrong with it. */
export function readExpectation(text: string, phase: string | null): Expectation | string {
  const [, name = '', detail = null, operator, amount = '', unit = ''] = FORM.exec(text) ?? [];
  if (operator === undefined) return 'must be FIGURE OPERATOR NUMBER, such as "lost == 0" or "p99(delivered) < 2 s"';
  const figure = figureOf(name, detail);
  if (typeof figure === 'string') return figure;
  const measure = measureOf(figure, amount, unit);
  if (typeof measure === 'string') return measure;
  if (phase !== null && figure.kind === 'count' && FIGURES[figure.name]?.whole)
    return `${name} is of the whole run, not of a phase`;
  return { text: text.trim(), phase, figure, operator: operator as Expectation['operator'], ...measure };
}

function shownAs(value: number, unit: Unit): string {
  if (unit === 'ms') return show.duration(value);
  if (unit === 'bytes') return show.bytes(value);
  const number = String(Number(value.toFixed(unit === '%' ? 2 : 1)));
  if (unit === '%') return `${number} %`;
  return unit === '/s' ? `${number}/s` : number;
}

/** Figures that are those of a slow service when it is the simulator that was slow. */
const TIMED = ['late', 'errors', 'losses', 'skipped'];
/** Of a chapter, from which on nobody can tell any more: milliseconds, and shares of its time. */
const MOST_STANDSTILL = 1000;
const MOST_STANDSTILL_SHARE = 0.05;
const MOST_FULL_SHARE = 0.5;

/** In words why what takes time cannot be measured in a chapter; undefined when it can. */
export function slownessIn({ spans, fleet: { ownStandstill = 0, ownFull = 0 } }: Chapter): string | undefined {
  const length = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  if (ownStandstill >= MOST_STANDSTILL || ownStandstill > MOST_STANDSTILL_SHARE * length)
    return `the simulator itself stood still for ${show.duration(ownStandstill)}`;
  if (ownFull > MOST_FULL_SHARE * length)
    return `the simulator itself had no processor time left for ${show.duration(ownFull)}`;
  return undefined;
}

/**
 * Whether an expectation holds in a chapter, and what the value is. Where there is nothing to measure it does not. What
 * takes time and does not hold is not measurable when the simulator was slow itself, in the chapter or later (`whole`: the whole run).
 */
export function judge(
  { figure, operator, wanted, unit }: Expectation,
  chapter: Chapter,
  whole: Chapter = chapter,
): Pick<Verdict, 'holds' | 'measurable' | 'value' | 'shown'> {
  const value = unit === '%' ? percentOf(figure, chapter) : numberOf(figure, chapter);
  if (value === undefined) return { holds: false, measurable: true, value: null, shown: 'nothing to measure' };
  const holds = OPERATORS[operator](value, wanted);
  const takesTime = figure.kind === 'latency' || TIMED.includes(figure.name);
  const slowness = takesTime && !holds ? (slownessIn(chapter) ?? slownessIn(whole)) : undefined;
  const shown = shownAs(value, unit);
  if (slowness === undefined) return { holds, measurable: true, value, shown };
  return { holds, measurable: false, value, shown: `not measurable (${shown}): ${slowness}` };
}
