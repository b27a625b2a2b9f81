import type { Micros } from '../../runtime/units.ts';

/** Stores refuse requests that are signed 15 minutes off or, some of them, 5 minutes off. */
const REFUSED_FROM_SECONDS = 300;

interface Refusal extends Error {
  /** The part of the answer that the SDK keeps. */
  $response?: { statusCode?: number; headers?: Record<string, string> };
}

/**
 * Names the clocks when a store has refused a request for its time: its own error says neither whose clock is wrong nor by
 * how much, and an answer to HEAD has no error at all. Any other error is returned as it is. `wall` is the time of this
 * machine.
 */
export function namesClock(thrown: unknown, wall: Micros): unknown {
  const { name, $response: answer } = thrown as Refusal;
  const aheadSeconds = Math.round((wall / 1000 - Date.parse(answer?.headers?.['date'] ?? '')) / 1000);
  const isFar = answer?.statusCode === 403 && Math.abs(aheadSeconds) >= REFUSED_FROM_SECONDS;
  if (name !== 'RequestTimeTooSkewed' && !isFar) return thrown;
  const distance = Number.isNaN(aheadSeconds)
    ? 'differs from'
    : `is ${Math.abs(aheadSeconds)} s ${aheadSeconds < 0 ? 'behind' : 'ahead of'}`;
  return new Error(
    `the object store refuses the time of the request, because the clock of this machine ${distance} that of the store: set the one that is wrong`,
    { cause: thrown },
  );
}
