import { remember } from '../bounded-map.ts';

/** The most durations kept; above that the newest take the place of the oldest. */
const KEPT = 10_000;

export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** Measures, in milliseconds, from a request to the command that it caused; either may be seen first. */
interface Durations {
  requested(transactionId: number, at: number): void;
  arrived(transactionId: number, at: number): void;
  percentiles(): Percentiles;
}

export function createDurations(): Durations {
  const open = new Map<number, { requested?: number; arrived?: number }>();
  const measured: number[] = [];
  let count = 0;

  function note(transactionId: number, time: { requested?: number; arrived?: number }): void {
    const { requested, arrived } = { ...open.get(transactionId), ...time };
    if (requested === undefined || arrived === undefined) {
      remember(open, transactionId, time, KEPT);
      return;
    }
    open.delete(transactionId);
    measured[count % KEPT] = arrived - requested;
    count += 1;
  }

  return {
    requested: (transactionId, at) => note(transactionId, { requested: at }),
    arrived: (transactionId, at) => note(transactionId, { arrived: at }),
    percentiles() {
      const sorted = measured.toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
      return { count, p50: at(0.5), p99: at(0.99) };
    },
  };
}
