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
 * Takes a device offline and back again until stopped: half of the times with DISCONNECT, half with a cut socket. The
 * spans between are drawn so that on average the device is offline for the wanted share of the time. Returns a function
 * that stops this.
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
  /** The number of this or the next absence. */
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
    // If the service is unreachable for longer than all attempts take, the device tries again after its next absence.
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
