import type { Selection } from '../core/selection/selection.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import { createRemembered } from '../runtime/remembered.ts';
import type { Micros } from '../runtime/units.ts';
import { countFailed, countInstalled, countLevels, countWaiting } from './own-fleet-repository.ts';
import { tensOf } from './tens.ts';

/** The most firmware versions, and the most versions of a package. */
const MOST_VERSIONS = 50;
/** The packages whose versions are counted: those that most devices have. */
const MOST_PACKAGES = 5;
/** Microseconds for which failed commands are counted. */
const DAY = 24 * 3600 * 1_000_000;
/** The most applications whose answers are kept. */
const MOST_KEPT = 1_000;

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Clock;
  selection: Pick<Selection, 'sampled'>;
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
}

interface Counted {
  version: string;
  devices: number;
}

/** The numbers that summarize the fleet of an application; times in microseconds. */
interface Summary {
  at: Micros;
  /** True when only a sample of the devices was counted, so that all numbers of devices but `activated` are estimates. */
  estimate: boolean;
  devices: { activated: number; connected: number };
  firmwareVersions: { version: string | null; devices: number }[];
  battery: { level: string | null; devices: number }[];
  packages: { package: string; devices: number; versions: Counted[] }[];
  commands: { waiting: number; failed: number; failedSince: Micros };
}

export type OwnFleet = ReturnType<typeof createOwnFleet>;

class Counts<Key> extends Map<Key, number> {
  add(key: Key, devices: number): void {
    this.set(key, (this.get(key) ?? 0) + devices);
  }
}

const mostFrequent = <Key extends string | null>(counts: ReadonlyMap<Key, number>, most: number): [Key, number][] =>
  [...counts]
    .toSorted(([one, some], [other, more]) => more - some || ((one ?? '') < (other ?? '') ? -1 : 1))
    .slice(0, most);

/**
 * Summarizes the fleet of an application, from its own devices and commands only. The queries run on a thread of their
 * own, a bounded number of devices at a time, and the answer is kept for ten seconds.
 */
export function createOwnFleet({ database: { aside }, clock, selection, connected }: Parts) {
  const remembered = createRemembered({ clock, most: MOST_KEPT });

  async function lookAt(applicationId: string): Promise<Summary> {
    const at = clock.now();
    const failedSince = at - DAY;
    const { batches, scale } = await selection.sampled(applicationId);
    const sums = { devices: 0, connected: 0 };
    const firmware = new Counts<string | null>();
    const battery = new Counts<string | null>();
    const packages = new Counts<string>();
    const versions = new Map<string, Counts<string>>();
    for await (const batch of batches) {
      const ids = batch.map(({ deviceId }) => deviceId);
      sums.devices += ids.length;
      sums.connected += (await connected(ids)).size;
      for (const device of batch) firmware.add(device.firmware, 1);
      const levels = await countLevels(aside, ids);
      for (const { level, devices } of levels) battery.add(tensOf(level), devices);
      const unknown = ids.length - levels.reduce((sum, { devices }) => sum + devices, 0);
      if (unknown > 0) battery.add(null, unknown);
      for (const { package: name, version, devices } of await countInstalled(aside, ids)) {
        packages.add(name, devices);
        const known = versions.get(name) ?? new Counts<string>();
        versions.set(name, known);
        known.add(version, devices);
      }
    }
    const all = (devices: number): number => Math.round(devices * scale);
    return {
      at,
      estimate: scale !== 1,
      devices: { activated: all(sums.devices), connected: all(sums.connected) },
      firmwareVersions: mostFrequent(firmware, MOST_VERSIONS).map(([version, devices]) => ({
        version,
        devices: all(devices),
      })),
      battery: [...battery]
        .toSorted(([one], [other]) => Number.parseInt(other ?? '-1', 10) - Number.parseInt(one ?? '-1', 10))
        .map(([level, devices]) => ({ level, devices: all(devices) })),
      packages: mostFrequent(packages, MOST_PACKAGES).map(([name, devices]) => ({
        package: name,
        devices: all(devices),
        versions: mostFrequent(versions.get(name)!, MOST_VERSIONS).map(([version, own]) => ({
          version,
          devices: all(own),
        })),
      })),
      commands: {
        waiting: await countWaiting(aside, applicationId),
        failed: await countFailed(aside, applicationId, failedSince),
        failedSince,
      },
    };
  }

  return (applicationId: string): Promise<Summary> => remembered(applicationId, () => lookAt(applicationId));
}
