import type { Chances } from '../faults/chances.ts';
import type { Occasion } from '../faults/fault.ts';
import type { Device } from '../model/device.ts';
import type { Range } from '../random.ts';
import type { Timers } from '../timers.ts';

/** How often and how long devices are offline. */
export interface Absence {
  /** The share of the time that a device is offline, from 0 to below 1. */
  readonly share: number;
  /** How long it is offline each time, in milliseconds. */
  readonly window: Range;
}

/**
 * Takes a device offline and back online, again and again: half of the times with DISCONNECT, half with a cut socket.
 * The online spans are so long that on average the device is offline for the wanted share of the time. Returns a
 * function that ends this.
 */
export function scheduleAbsences({
  device,
  absence: { share, window },
  chances,
  timers,
  onFailure,
}: {
  device: Device;
  absence: Absence;
  chances: Chances;
  timers: Timers;
  onFailure: (error: Error) => void;
}): () => void {
  let stopped = false;
  let cancel = (): void => {};
  /** The number of the current absence; while the device is online, of the next one. It names the random decisions. */
  let nth = 1;
  const present = { min: 0, max: ((window.min + window.max) * (1 - share)) / share };

  const occasion = (): Occasion => ({ kind: 'absence', key: nth });

  function plan(about: string, span: Range, next: () => void): void {
    if (!stopped) cancel = timers.after(chances.within(occasion(), about, span), next);
  }
  function goAway(): void {
    const gone = chances.hits(occasion(), 'politely', 0.5) ? device.disconnect() : device.drop();
    gone.catch(onFailure).finally(() => plan('away', window, comeBack));
  }
  function comeBack(): void {
    nth += 1;
    // When `connect` has failed in all its attempts, the device stays offline until after its next planned absence, and
    // then connects again.
    device
      .connect()
      .catch(onFailure)
      .finally(() => plan('present', present, goAway));
  }

  if (share > 0) plan('present', present, goAway);
  return () => {
    stopped = true;
    cancel();
  };
}
