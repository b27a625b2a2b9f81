import type { Fault, FaultKind } from '../faults/fault.ts';
import type { Timers } from '../timers.ts';
import { type Charge, FLAT } from './battery.ts';

/** Faults that begin after an installation that has succeeded: a bad release that installs well. */
export const AFTERMATHS: readonly FaultKind[] = [
  'silent-after',
  'reboots-after',
  'reconnects-after',
  'crashes-after',
  'drains-after',
  'fills-storage-after',
];
/** Milliseconds for which a device is off when it restarts. */
const RESTART = 20_000;

interface Parts {
  timers: Timers;
  powerOff(milliseconds: number): void;
  /** The device does not start any more. */
  die(): void;
  loseConnection(): void;
  crash(): void;
}

/** The present share of time of something that takes `whole` milliseconds since `begun`; at most 1. */
const shareOf = (now: number, begun: number, whole: number): number => Math.min(1, (now - begun) / Math.max(1, whole));

/** Plays what a release does to its device after it was installed. It lasts until another version is installed. */
export function createAftermath({ timers, powerOff, die, loseConnection, crash }: Parts) {
  let cancel: (() => void) | undefined;
  let since: { kind: FaultKind; begun: number; whole: number } | undefined;

  function stop(): void {
    cancel?.();
    cancel = undefined;
    since = undefined;
  }

  function each(milliseconds: number, happen: () => void): void {
    cancel = timers.after(milliseconds, () => {
      each(milliseconds, happen);
      happen();
    });
  }

  return {
    begin({ kind, delay }: Fault): void {
      stop();
      since = { kind, begun: timers.now(), whole: delay };
      if (kind === 'silent-after') cancel = timers.after(delay, die);
      else if (kind === 'reboots-after') each(delay, () => powerOff(RESTART));
      else if (kind === 'reconnects-after') each(delay, loseConnection);
      else if (kind === 'crashes-after') each(delay, crash);
    },

    /** The battery, as far as the release empties it. */
    charge(): Charge | undefined {
      if (since?.kind !== 'drains-after') return undefined;
      const left = 1 - shareOf(timers.now(), since.begun, since.whole);
      return { level: Math.max(FLAT.level, Math.round(100 * left)), charging: false };
    },

    /** The share of the storage that the release has filled. */
    filled: (): number => (since?.kind === 'fills-storage-after' ? shareOf(timers.now(), since.begun, since.whole) : 0),

    stop,
  };
}
