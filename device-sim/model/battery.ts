import type { Random } from '../random.ts';

export interface Charge {
  /** In whole percent. */
  readonly level: number;
  readonly charging: boolean;
}

const HOUR = 3_600_000;
const LOW = 15;
const DRAIN_MILLISECONDS = 8 * HOUR;
const CHARGE_MILLISECONDS = 1.5 * HOUR;

/** A battery that is nearly empty. */
export const FLAT: Charge = { level: 5, charging: false };

/**
 * A battery that lasts a shift and is charged when it is low, again and again. At time 0 it is at a random point of
 * this cycle. `at` is in milliseconds; the battery needs no timer.
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
