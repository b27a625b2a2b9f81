/**
 * Numbers of milliseconds and of microseconds, which the compiler keeps apart: a time from `now` (Micros) cannot become
 * the length of a timer (Millis) without a conversion. A plain number is accepted as both.
 */
export type Millis = number & { readonly unit?: 'ms' };
export type Micros = number & { readonly unit?: 'us' };

/** A second in microseconds. */
export const SECOND = 1_000_000;
