import { signal } from '@preact/signals';

/** Milliseconds by which the service's clock is ahead of this browser's, as its last answer said. */
let ahead = 0;

/** The service's time, which the ages on a page are told by. It moves once a second, and stands while the page is hidden. */
export const now = signal(Date.now());

export function heard(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  // The header has whole seconds: half of one is what it is behind on average.
  if (!Number.isNaN(at)) ahead = Math.abs(at + 500 - Date.now()) < 2_000 ? 0 : at + 500 - Date.now();
}

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now() + ahead;
  }, 1_000);
}
