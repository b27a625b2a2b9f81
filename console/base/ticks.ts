import { inZone } from './zone.ts';

const MINUTE = 60;
export const DAY = 86_400;
const exact = inZone({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const clock = inZone({ hour: '2-digit', minute: '2-digit' });
const day = inZone({ day: 'numeric', month: 'short' });

/** Leaves out each label that says the same as the one before it, because two ticks that look alike mislead. */
export const distinct = (labels: readonly string[]): string[] => {
  let last = '';
  return labels.map((label) => {
    if (label === last) return '';
    if (label !== '') last = label;
    return label;
  });
};

/** The indices of the values that have no known value beside them. */
export function alone(values: ArrayLike<number | null | undefined>): number[] {
  return Array.from(values, (_, index) => index).filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
}

/**
 * The labels of the ticks of an axis of times, in seconds, which are `step` seconds apart. Where the axis is longer than
 * a day, the time of day alone would come again and again, so the day stands before it.
 */
export function timeLabels(ticks: readonly number[], step: number, isLongerThanDay: boolean): string[] {
  const of = (seconds: number): string => {
    const at = seconds * 1000;
    if (step >= DAY) return day().format(at);
    if (isLongerThanDay) return `${day().format(at)}, ${clock().format(at)}`;
    return (step < MINUTE ? exact : clock)().format(at);
  };
  return distinct(ticks.map(of));
}
