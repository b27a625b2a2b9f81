import { crc32 } from 'node:zlib';
import type { Device } from '../model/device.ts';
import { createRandom, deriveSeed, draw, type Range } from '../random.ts';
import type { Timers } from '../timers.ts';
import type { Absence } from './absences.ts';

interface Parts {
  /** The group whose devices share the access point. */
  readonly group: string;
  readonly absence: Absence;
  readonly seed: number;
  readonly timers: Timers;
}

/** An access point of several devices, which is out of their reach again and again: for all of them at the same time. */
export interface AccessPoint {
  /**
   * The device goes and comes with the others from now on; `onFailure` is told when it cannot connect. The returned function
   * ends this.
   */
  join(device: Device, onFailure: (error: Error) => void): () => void;
}

/** The seed and the name of the group decide the times, so several processes that share a group have the same. */
export function createAccessPoint({ group, absence: { share, window }, seed, timers }: Parts): AccessPoint {
  const devices = new Map<Device, (error: Error) => void>();
  const present = { min: 0, max: ((window.min + window.max) * (1 - share)) / share };
  const random = createRandom(deriveSeed(seed, crc32(group), 14));
  let isAway = false;
  let cancel: (() => void) | undefined;

  const plan = (span: Range, next: () => void): void => {
    cancel = timers.after(draw(random, span), next);
  };
  function goAway(): void {
    isAway = true;
    for (const [device, onFailure] of devices) device.drop().catch(onFailure);
    plan(window, comeBack);
  }
  function comeBack(): void {
    isAway = false;
    for (const [device, onFailure] of devices) device.connect().catch(onFailure);
    plan(present, goAway);
  }

  return {
    join(device, onFailure) {
      devices.set(device, onFailure);
      if (isAway) device.drop().catch(onFailure);
      if (!cancel) plan(present, goAway);
      return () => {
        devices.delete(device);
        if (devices.size > 0) return;
        cancel?.();
        cancel = undefined;
        isAway = false;
      };
    },
  };
}
