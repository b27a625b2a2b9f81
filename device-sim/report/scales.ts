import * as show from '../show.ts';

/** A labelled position on an axis; 0 is its beginning, 1 its end. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** An axis: maps a value to a position from 0 (left or bottom) to 1 (right or top). */
export interface Scale {
  at(value: number): number;
  readonly ticks: readonly Tick[];
}

/** The smallest of 1, 2, 5, 10, 20 ... that divides a span into at most `most` parts. */
function step(span: number, most: number): number {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
}

/** An axis from 0 to at least `max`, in even steps. */
export function countScale(max: number): Scale {
  const each = Math.max(1, step(Math.max(max, 1), 4));
  const end = Math.ceil(Math.max(max, 1) / each) * each;
  const ticks = Array.from({ length: Math.round(end / each) + 1 }, (_, place) => place * each);
  return { at: (value) => value / end, ticks: ticks.map((value) => ({ at: value / end, label: show.count(value) })) };
}

/** A logarithmic axis of milliseconds, so that fast and slow values are both visible. */
export function latencyScale(min: number, max: number): Scale {
  const low = Math.floor(Math.log10(Math.max(min, 0.1)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(max, 0.1)) - 1e-9));
  const at = (value: number): number =>
    Math.min(1, Math.max(0, (Math.log10(Math.max(value, 0.01)) - low) / (high - low)));
  const decades = Array.from({ length: high - low + 1 }, (_, place) => 10 ** (low + place));
  return { at, ticks: decades.map((value) => ({ at: at(value), label: show.duration(value) })) };
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];

/** An axis of milliseconds since the start. */
export function timeScale(milliseconds: number): Scale {
  const end = Math.max(milliseconds, 1000);
  const each = 1000 * (TIME_STEPS.find((seconds) => seconds * 1000 >= end / 6) ?? 86_400);
  const ticks = Array.from({ length: Math.floor(end / each) + 1 }, (_, place) => place * each);
  return { at: (value) => value / end, ticks: ticks.map((value) => ({ at: value / end, label: show.clock(value) })) };
}
