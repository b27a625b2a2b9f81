import type { Conditions } from '../mqtt/conditions.ts';

/** A bad network of some devices. */
export interface BadNetwork extends Conditions {
  /** How often each device loses its connection, per hour. */
  readonly losses: number;
}
