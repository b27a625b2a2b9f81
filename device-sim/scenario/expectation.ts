import { STAGES, type Stage } from '../customer/figures.ts';
import { nameOfScope, type Scope } from '../customer/scopes.ts';
import { FIGURES, type FigureName, hasDetails, numberOf, percentOf } from '../report/figure-names.ts';
import type { Chapter, Verdict } from '../report/record.ts';
import * as show from '../show.ts';
import { bytes, duration } from './quantities.ts';
import { suggestName } from './suggest-name.ts';

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
  /** The group and the action of the expectation; empty for all. */
  readonly scope: Scope;
  readonly figure: FigureName;
  readonly operator: keyof typeof OPERATORS;
  readonly wanted: number;
  readonly unit: Unit;
}

const FORM = /^\s*(\w[\w.]*)\s*(?:\(([^()]*)\))?\s*(==|!=|<=|>=|<|>)\s*([\d.]+)\s*(%|\/s|[A-Za-z]*)\s*$/;
const DETAIL = /^[\w-]+$/;
const SCOPE = /^(group|action|node): *([\w.-]+)$/;
const PERCENTILE = /^p(\d{1,2}(?:\.\d+)?|100)$/;
const TIMES = ['ms', 's', 'm', 'h', 'd'];
const SIZES = ['B', 'kB', 'KiB', 'MB', 'MiB', 'GB', 'GiB'];

/** Reads the text in parentheses: a detail of the figure, a group, an action. A returned string says what is wrong. */
function readParentheses(text: string | undefined): { detail: string | null; scope: Scope } | string {
  let detail: string | null = null;
  let scope: Scope = {};
  const parts = text === undefined ? [] : text.split(',').map((part) => part.trim());
  for (const [place, part] of parts.entries()) {
    const [, kind, name] = SCOPE.exec(part) ?? [];
    if (kind !== undefined && !Object.hasOwn(scope, kind)) scope = { ...scope, [kind]: name };
    else if (place === 0 && DETAIL.test(part)) detail = part;
    else
      return `(${text}) must be a stage, a status, a code or a fault, then "group: NAME", "action: NAME" or "node: NUMBER"`;
  }
  return { detail, scope };
}

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
    return `there is no figure "${name}"; ${suggestName(name, [...Object.keys(FIGURES), 'p99', 'max'])}`;
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
  const { base, part = false, unit: own = 'count' } = FIGURES[figure.name]!;
  if (unit === '%') {
    if (base === undefined) return `${figure.name} cannot be compared with a percentage`;
    return part && wanted > 100 ? `${figure.name} is never above 100 % of ${base}` : { wanted, unit };
  }
  if (own === 'ms') {
    if (!TIMES.includes(unit)) return `${figure.name} is compared with a time, such as ${amount} s`;
    return { wanted: duration(`${amount}${unit}`), unit: own };
  }
  if (own === 'bytes' && SIZES.includes(unit)) return { wanted: bytes(`${amount}${unit}`), unit: 'bytes' };
  if (unit === '' || unit === own) return { wanted, unit: own };
  return `${figure.name} is not measured in ${unit}`;
}

/**
 * Reads an expectation such as `lost == 0`, `succeeded >= 99 %` or `p99(delivered) < 2 s`. A returned string says what
 * is wrong with it.
 */
export function readExpectation(text: string, phase: string | null): Expectation | string {
  const [, name = '', inside, operator, amount = '', unit = ''] = FORM.exec(text) ?? [];
  if (operator === undefined) return 'must be FIGURE OPERATOR NUMBER, such as "lost == 0" or "p99(delivered) < 2 s"';
  const parentheses = readParentheses(inside);
  if (typeof parentheses === 'string') return parentheses;
  const { detail, scope } = parentheses;
  const figure = figureOf(name, detail);
  if (typeof figure === 'string') return figure;
  const measure = measureOf(figure, amount, unit);
  if (typeof measure === 'string') return measure;
  if (phase !== null && figure.kind === 'count' && FIGURES[figure.name]?.whole)
    return `${name} is of the whole run, not of a phase`;
  if (nameOfScope(scope) !== '' && figure.kind === 'count' && !FIGURES[name]?.scoped)
    return `${name} is not counted by group, action or node`;
  return { text: text.trim(), phase, scope, figure, operator: operator as Expectation['operator'], ...measure };
}

function shownAs(value: number, unit: Unit): string {
  if (unit === 'ms') return show.duration(value);
  if (unit === 'bytes') return show.bytes(value);
  const number = String(Number(value.toFixed(unit === '%' ? 2 : 1)));
  if (unit === '%') return `${number} %`;
  return unit === '/s' ? `${number}/s` : number;
}

/** Figures that a slow simulator worsens just as a slow service does. */
const TIMED = ['late', 'errors', 'losses', 'skipped', 'stalled', 'halted'];
/**
 * The simulator was too slow to measure a phase if it stood still for a second, or for 5 % of the phase, or if its
 * event loop was full for half of the phase.
 */
const MOST_STANDSTILL = 1000;
const MOST_STANDSTILL_SHARE = 0.05;
const MOST_FULL_SHARE = 0.5;
/** The machine was too slow if its kernel says for half of the phase that it had too few processors. */
const MOST_STARVED_SHARE = 0.5;

/** Says why the simulator was too slow to measure durations in a phase; undefined if it was fast enough. */
export function slownessIn({
  spans,
  fleet: { ownStandstill = 0, ownFull = 0, ownStarved = 0 },
}: Chapter): string | undefined {
  const length = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  if (ownStandstill >= MOST_STANDSTILL || ownStandstill > MOST_STANDSTILL_SHARE * length)
    return `the simulator itself stood still for ${show.duration(ownStandstill)}`;
  if (ownFull > MOST_FULL_SHARE * length)
    return `the simulator itself had no processor time left for ${show.duration(ownFull)}`;
  if (ownStarved > 0 && ownStarved >= MOST_STARVED_SHARE * length)
    return `the machine had too few processors for ${show.duration(ownStarved)}`;
  return undefined;
}

/** A chapter as an expectation sees it: with the figures of its group and action. */
function seen(chapter: Chapter, scope: Scope): Chapter {
  const name = nameOfScope(scope);
  return name === '' ? chapter : { ...chapter, figures: chapter.scopes?.[name] ?? null };
}

/**
 * Whether an expectation holds in a phase, and the measured value. It does not hold if there was nothing to measure.
 * When a latency, or a figure that depends on time, does not hold, it counts as not measurable if the simulator was
 * slow in that phase or in the run as a whole (`whole`).
 */
export function judge(
  { figure, operator, wanted, unit, scope }: Expectation,
  whose: Chapter,
  whole: Chapter = whose,
): Pick<Verdict, 'holds' | 'measurable' | 'value' | 'shown'> {
  const chapter = seen(whose, scope);
  const value = unit === '%' ? percentOf(figure, chapter) : numberOf(figure, chapter);
  if (value === undefined) return { holds: false, measurable: true, value: null, shown: 'nothing to measure' };
  const holds = OPERATORS[operator](value, wanted);
  const takesTime = figure.kind === 'latency' || TIMED.includes(figure.name);
  const slowness = takesTime && !holds ? (slownessIn(chapter) ?? slownessIn(whole)) : undefined;
  const shown = shownAs(value, unit);
  if (slowness === undefined) return { holds, measurable: true, value, shown };
  return { holds, measurable: false, value, shown: `not measurable (${shown}): ${slowness}` };
}
