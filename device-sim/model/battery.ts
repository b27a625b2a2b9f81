import type { Random } from '../random.ts';

export interface Charge {
  /** Whole percents. */
  readonly level: number;
  readonly charging: boolean;
}

const HOUR = 3_600_000;
const LOW = 15;
const DRAIN_MILLISECONDS = 8 * HOUR;
const CHARGE_MILLISECONDS = 1.5 * HOUR;

/**
 * A battery that lasts a shift and is put on its dock when it is low, over and over. It is somewhere on that way when it
 * is first seen. `at` is in milliseconds since then; it costs nothing until somebody looks.
 */
export function createBattery(random: Random): (at: number) => Charge {
  const cycle = DRAIN_MILLISECONDS + CHARGE_MILLISECONDS;
  const begin = random() * cycle;
  return (at) => {
    const place = (begin + at) % cycle;
    const charging = place >= DRAIN_MILLISECONDS;
    const share = charging ? (place - DRAIN_MILLISECONDS) / CHARGE_MILLISECONDS : 1 - place / DRAIN_MILLISECONDS;
    return { level: Math.round(LOW + (100 - LOW) * share), charging };
  };
}
