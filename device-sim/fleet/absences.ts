import type { Chances } from '../faults/chances.ts';
import type { Occasion } from '../faults/fault.ts';
import type { Device } from '../model/device.ts';
import type { Range } from '../random.ts';
import type { Timers } from '../timers.ts';

/** When devices are away. */
export interface Absence {
  /** Share of the time that a device is away, 0 to below 1. */
  readonly share: number;
  /** Milliseconds that it is away each time. */
  readonly window: Range;
}

/**
 * Lets a device go and come back until stopped: half of the times politely, half of them as in a tunnel. The spans
 * between are drawn so that on average the wanted share of time is spent away. Returns what stops it.
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
  /** The how manyeth absence it is, or will be. */
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
    // A service that is away for longer than the attempts last is tried again after the next absence.
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
