/**
 * Milliseconds and microseconds. Plain numbers are both; a value that is known to be one of them is not taken for the
 * other, so a time that comes from `now` cannot become the length of a timer unconverted.
 */
export type Millis = number & { readonly unit?: 'ms' };
export type Micros = number & { readonly unit?: 'us' };
