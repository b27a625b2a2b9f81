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

/** An expectation, which must hold at the end. */
export interface Expectation {
  /** The text as it was written. */
  readonly text: string;
  /** The phase of the expectation; null for the whole run. */
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

/**
 * Finds the figure by its name and the text in parentheses behind it. A returned string says what is wrong with them.
 */
function figureOf(name: string, detail: string | null): FigureName | string {
  const [, percent] = PERCENTILE.exec(name) ?? [];
  if (percent !== undefined || name === 'max') {
    if (!STAGES.includes(detail as Stage))
      return `${name} needs a stage: ${STAGES.map((s) => `${name}(${s})`).join(', ')}`;
    return { kind: 'latency', percent: percent === undefined ? 100 : Number(percent), stage: detail as Stage };
  }
  if (!Object.hasOwn(FIGURES, name))
    return `there is no figure "${name}"; ${among(name, [...Object.keys(FIGURES), 'p99', 'max'])}`;
  if (detail !== null && !hasDetails(name)) return `${name} takes no parentheses`;
  return { kind: 'count', name, detail };
}

/** Reads the number and the unit that a figure is compared with. A returned string says what is wrong with them. */
function measureOf(figure: FigureName, amount: string, unit: string): { wanted: number; unit: Unit } | string {
  const wanted = Number(amount);
  if (!Number.isFinite(wanted)) return `${amount} is not a number`;
  if (figure.kind === 'latency') {
    if (!TIMES.includes(unit)) return `a percentile is compared with a time, such as ${amount} s`;
    return { wanted: duration(`${amount}${unit}`), unit: 'ms' };
  }
  const { base, unit: own = 'count' } = FIGURES[figure.name]!;
  if (unit === '%')
    return base === undefined ? `${figure.name} cannot be compared with a percentage` : { wanted, unit };
  if (own === 'bytes' && SIZES.includes(unit)) return { wanted: bytes(`${amount}${unit}`), unit: 'bytes' };
  if (unit === '' || unit === own) return { wanted, unit: own };
  return `${figure.name} is not measured in ${unit}`;
}

/**
 * Reads an expectation such as `lost == 0`, `succeeded >= 99 %` or `p99(delivered) < 2 s`. A returned string says what
 * is wrong with it.
 */
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

/** Figures that a slow simulator worsens just as a slow service does. */
const TIMED = ['late', 'errors', 'losses', 'skipped'];
/**
 * The simulator was too slow to measure a phase if it stood still for a second, or for 5 % of the phase, or if its
 * event loop was full for half of the phase.
 */
const MOST_STANDSTILL = 1000;
const MOST_STANDSTILL_SHARE = 0.05;
const MOST_FULL_SHARE = 0.5;

/** Says why the simulator was too slow to measure durations in a phase; undefined if it was fast enough. */
export function slownessIn({ spans, fleet: { ownStandstill = 0, ownFull = 0 } }: Chapter): string | undefined {
  const length = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  if (ownStandstill >= MOST_STANDSTILL || ownStandstill > MOST_STANDSTILL_SHARE * length)
    return `the simulator itself stood still for ${show.duration(ownStandstill)}`;
  if (ownFull > MOST_FULL_SHARE * length)
    return `the simulator itself had no processor time left for ${show.duration(ownFull)}`;
  return undefined;
}

/**
 * Whether an expectation holds in a phase, and the measured value. It does not hold if there was nothing to measure.
 * When a latency, or a figure that depends on time, does not hold, it counts as not measurable if the simulator was
 * slow in that phase or in the run as a whole (`whole`).
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
