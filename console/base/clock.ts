import { signal } from '@preact/signals';

/** Milliseconds by which the clock of the service is ahead of the browser's clock, according to the last answer. */
let ahead = 0;

/**
 * The time of the service, from which ages on the page are computed. It advances every second, and stands still while
 * the page is hidden.
 */
export const now = signal(Date.now());

/**
 * Increases when the computer has slept, or its clock was changed: streams may be dead without anybody knowing, and
 * values on the page are old.
 */
export const wakes = signal(0);

const TICK_MS = 1_000;
/** Milliseconds between two ticks of a visible page, above which the computer has slept. A busy page loses less. */
const SLEPT_MS = 15_000;

/** Seconds by which the clock of the service is ahead; 0 when the difference is that of the line. */
export const skewSeconds = signal(0);

export function heard(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  // The Date header has whole seconds, so the true time is half a second later on average.
  if (Number.isNaN(at)) return;
  ahead = Math.abs(at + 500 - Date.now()) < 2_000 ? 0 : at + 500 - Date.now();
  skewSeconds.value = Math.round(ahead / 1000);
}

export function startClock(): void {
  let last = Date.now();
  const tick = (): void => {
    const at = Date.now();
    if (Math.abs(at - last) > SLEPT_MS) wakes.value += 1;
    last = at;
    now.value = at + ahead;
  };
  setInterval(() => {
    if (!document.hidden) tick();
  }, TICK_MS);
  // A hidden page has no ticks. When it becomes visible it reads everything again anyway.
  document.addEventListener('visibilitychange', () => {
    last = Date.now();
    if (!document.hidden) tick();
  });
}
