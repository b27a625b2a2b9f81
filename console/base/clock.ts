import { signal } from '@preact/signals';

/** Milliseconds by which the clock of the service is ahead of the browser's clock, according to the last answer. */
let ahead = 0;

/**
 * The time of the service, from which ages on the page are computed. It advances every second, and stands still while
 * the page is hidden.
 */
export const now = signal(Date.now());

export function heard(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  // The Date header has whole seconds, so the true time is half a second later on average.
  if (!Number.isNaN(at)) ahead = Math.abs(at + 500 - Date.now()) < 2_000 ? 0 : at + 500 - Date.now();
}

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now() + ahead;
  }, 1_000);
}
