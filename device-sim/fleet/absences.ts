import type { Device } from '../model/device.ts';
import { draw, type Random, type Range } from '../random.ts';
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
  random,
  timers,
  onFailure,
}: {
  device: Device;
  absence: Absence;
  random: Random;
  timers: Timers;
  onFailure: (error: Error) => void;
}): () => void {
  let stopped = false;
  let cancel = (): void => {};
  const present = { min: 0, max: ((window.min + window.max) * (1 - share)) / share };

  function plan(span: Range, next: () => void): void {
    if (!stopped) cancel = timers.after(draw(random, span), next);
  }
  function goAway(): void {
    const gone = random() < 0.5 ? device.disconnect() : device.drop();
    gone.catch(onFailure).finally(() => plan(window, comeBack));
  }
  function comeBack(): void {
    // A service that is away for longer than the attempts last is tried again after the next absence.
    device
      .connect()
      .catch(onFailure)
      .finally(() => plan(present, goAway));
  }

  if (share > 0) plan(present, goAway);
  return () => {
    stopped = true;
    cancel();
  };
}
