import { createRandom, deriveSeed, draw } from '../random.ts';
import type { Timers } from '../timers.ts';
import { type Charge, createBattery } from './battery.ts';
import type { DeviceState } from './device-state.ts';
import { freeStorage } from './software.ts';

type Status = Readonly<Record<string, unknown>>;

/** The status of a device (contract, section 2). `total`: bytes of storage; `rssi`: dBm. */
export function statusOf(
  state: Readonly<DeviceState>,
  { total, battery, rssi, filled = 0 }: { total: number; battery: Charge; rssi: number; filled?: number },
): Status {
  const { lang, firmwareVersion, managementClientVersion, networks, bluetooth } = state;
  // The device joins the first network in the list.
  const ssid = networks[0]?.['ssid'];
  return {
    lang,
    firmwareVersion,
    managementClientVersion,
    battery,
    storage: { total, free: Math.round(freeStorage(state, total) * (1 - filled)) },
    network: { type: ssid === undefined ? 'mobile' : 'wifi', ssid: ssid ?? null, rssi },
    bluetooth: { enabled: bluetooth.enabled },
    software: Object.entries(state.software).map(([name, { version, versionCode }]) => ({
      package: name,
      version,
      versionCode,
    })),
  };
}

/** Reports the status of a device to the service. */
export interface StatusReport {
  /** Reports all fields, as at a new connection. */
  whole(): void;
  /** Reports the fields that have changed since the last report; while offline, at the next connection. */
  changes(): void;
  /** Whether changes are still to be reported, at the next connection. */
  readonly due: boolean;
}

/**
 * Reads the status of a device that is switched on now: its battery is charged and discharged as time goes by. `total`:
 * bytes of storage. `worn`: the battery as faults have left it, and the share of the free storage that they have filled.
 */
export function statusReader({
  state,
  total,
  seed,
  timers,
  worn,
}: {
  state: () => Readonly<DeviceState>;
  total: number;
  seed: number;
  timers: Timers;
  worn: () => { charge?: Charge | undefined; filled?: number };
}): () => Status {
  const switchedOn = timers.now();
  const battery = createBattery(createRandom(deriveSeed(seed, 7)));
  const rssi = Math.round(draw(createRandom(deriveSeed(seed, 8)), { min: -85, max: -45 }));
  return () => {
    const { charge = battery(timers.now() - switchedOn), filled = 0 } = worn();
    return statusOf(state(), { total, battery: charge, rssi, filled });
  };
}

export function createStatusReport({
  read,
  isOnline,
  publish,
}: {
  read: () => Status;
  isOnline: () => boolean;
  publish: (payload: string) => void;
}): StatusReport {
  const fields = (): [string, string][] => Object.entries(read()).map(([name, value]) => [name, JSON.stringify(value)]);
  /** By field: the JSON of the value that was last reported. */
  const told = new Map(fields());
  let due = false;

  function tell(some: readonly [string, string][]): void {
    due = !isOnline() && some.length > 0;
    if (due || some.length === 0) return;
    for (const [name, value] of some) told.set(name, value);
    publish(`{${some.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`);
  }

  return {
    whole: () => tell(fields()),
    changes: () => tell(fields().filter(([name, value]) => told.get(name) !== value)),
    get due() {
      return due;
    },
  };
}
