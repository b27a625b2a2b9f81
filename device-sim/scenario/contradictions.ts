import { nameOfScope } from '../customer/scopes.ts';
import type { Expectation } from './expectation.ts';

/** The values that meet an expectation: from `low` to `high`, each included or not. */
interface Range {
  readonly low: number;
  readonly high: number;
  readonly lowIncluded: boolean;
  readonly highIncluded: boolean;
}

/** The range of an expectation; null for `!=`, which is no range. No figure is below zero. */
function rangeOf({ operator, wanted }: Expectation): Range | null {
  const all = { low: 0, high: Number.POSITIVE_INFINITY, lowIncluded: true, highIncluded: true };
  if (operator === '==') return { ...all, low: wanted, high: wanted };
  if (operator === '>' || operator === '>=') return { ...all, low: wanted, lowIncluded: operator === '>=' };
  if (operator === '<' || operator === '<=') return { ...all, high: wanted, highIncluded: operator === '<=' };
  return null;
}

const isEmpty = ({ low, high, lowIncluded, highIncluded }: Range): boolean =>
  low > high || (low === high && !(lowIncluded && highIncluded));

/** The name of the measured value: two expectations with the same name are about the same value. */
function nameOfValue({ figure, phase, scope, unit }: Expectation): string {
  const name = figure.kind === 'count' ? [figure.name, figure.detail] : [figure.percent, figure.stage];
  return JSON.stringify([figure.kind, ...name, phase, nameOfScope(scope), unit]);
}

/**
 * Finds expectations that no run can meet: one that wants less than nothing, or two about the same value that exclude
 * each other. Returns the place of each such expectation in the list, and the reason.
 */
export function contradictionsIn(expectations: readonly (Expectation | null)[]): { place: number; text: string }[] {
  return expectations.flatMap((one, place) => {
    const range = one && rangeOf(one);
    if (!one || !range) return [];
    if (isEmpty(range)) return [{ place, text: 'can never hold, because no figure is below 0' }];
    const other = expectations.slice(0, place).find((before) => {
      const earlier = before && nameOfValue(before) === nameOfValue(one) ? rangeOf(before) : null;
      return earlier !== null && (isEmpty(common(earlier, range)) || isEmpty(common(range, earlier)));
    });
    return other ? [{ place, text: `contradicts "${other.text}": they can never hold together` }] : [];
  });
}

/** The values that two ranges have in common, with the lower end of the first and the upper end of the second. */
const common = (lower: Range, upper: Range): Range => ({
  low: lower.low,
  lowIncluded: lower.lowIncluded,
  high: upper.high,
  highIncluded: upper.highIncluded,
});
