import type { Range } from '../random.ts';
import { pause, type Timers } from '../timers.ts';

/** The state of the network that some devices use. */
export interface Conditions {
  /** Milliseconds that bytes need in each direction. */
  readonly delay: Range;
  /** Bytes a second in each direction; null: unlimited. */
  readonly bytesPerSecond: number | null;
}

/** The network of a device at this moment; null: nothing is wrong with it. */
export type ConditionsNow = () => Conditions | null;

/** Waits as long as a network needs for so many bytes of a file. */
export async function pace(
  bytes: number,
  conditions: ConditionsNow,
  timers: Timers,
  signal: AbortSignal,
): Promise<void> {
  const { bytesPerSecond = null } = conditions() ?? {};
  if (bytesPerSecond !== null) await pause(timers, (1000 * bytes) / bytesPerSecond, signal);
}
