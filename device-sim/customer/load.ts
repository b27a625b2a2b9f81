import type { Device } from '../model/device.ts';
import { createRandom } from '../random.ts';
import type { Timers } from '../timers.ts';
import type { Application } from './application.ts';
import { createDurations, type Percentiles } from './durations.ts';

/** More requests than this at once are not made: the service is slower than the rate. */
const MOST_AT_ONCE = 256;

export interface LoadCounts {
  requests: number;
  accepted: number;
  /** By status; 0: no answer at all. */
  refusals: Record<string, number>;
  /** Not made, because too many were under way. */
  skipped: number;
  /** Milliseconds from a request to its command on the device. */
  toDevice: Percentiles;
}

/** A stream of Wi-Fi changes at a fixed rate, whether or not the service keeps up, each to a device drawn from the seed. */
export function startLoad({
  application,
  devices,
  perSecond,
  seed,
  timers,
}: {
  application: Application;
  devices: readonly Device[];
  perSecond: number;
  seed: number;
  timers: Timers;
}): { counts(): LoadCounts; stop(): Promise<void> } {
  const random = createRandom(seed);
  const durations = createDurations();
  const counts = { requests: 0, accepted: 0, refusals: {} as Record<string, number>, skipped: 0 };
  const underWay = new Set<Promise<void>>();
  const began = timers.now();
  let due = 0;
  let cancel: (() => void) | undefined;

  for (const { events } of devices) {
    events.on('command', ({ transactionId, operation }, reaction) => {
      if (operation === 'setWifi' && reaction === 'accepted') durations.arrived(transactionId, timers.now());
    });
  }

  async function request(deviceId: string, ssid: string): Promise<void> {
    const at = timers.now();
    const outcome = await application.setWifi(deviceId, ssid).catch(() => ({ refusal: 0 }));
    if ('transactionId' in outcome) {
      counts.accepted += 1;
      durations.requested(outcome.transactionId, at);
    } else {
      counts.refusals[outcome.refusal] = (counts.refusals[outcome.refusal] ?? 0) + 1;
    }
  }

  function catchUp(): void {
    for (const target = ((timers.now() - began) / 1000) * perSecond; due < target; due += 1) {
      const device = devices[Math.floor(random() * devices.length)];
      if (!device) return;
      if (underWay.size >= MOST_AT_ONCE) {
        counts.skipped += 1;
        continue;
      }
      counts.requests += 1;
      const made = request(device.deviceId, `network ${due}`);
      underWay.add(made);
      void made.finally(() => underWay.delete(made));
    }
    // Above 200 a second several are made in one go.
    cancel = timers.after(Math.max(5, 1000 / perSecond), catchUp);
  }

  catchUp();
  return {
    counts: () => ({ ...counts, toDevice: durations.percentiles() }),
    async stop() {
      cancel?.();
      await Promise.all(underWay);
    },
  };
}
