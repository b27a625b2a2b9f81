import type { Range } from '../random.ts';
import { pause, type Timers } from '../timers.ts';
import type { Medium } from './medium.ts';

/** The state of the network that some devices use. */
export interface Conditions {
  /** Milliseconds that bytes need in each direction. */
  readonly delay: Range;
  /** Bytes a second in each direction, or in both together of a medium that is shared; null: unlimited. */
  readonly bytesPerSecond: number | null;
  /** The medium that other devices use as well; without it the device has the bandwidth for itself. */
  readonly medium?: Medium | undefined;
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
  const { bytesPerSecond = null, medium } = conditions() ?? {};
  if (bytesPerSecond === null) return;
  const sending = (1000 * bytes) / bytesPerSecond;
  const now = timers.now();
  await pause(timers, medium ? medium.take(now, sending) - now : sending, signal);
}
