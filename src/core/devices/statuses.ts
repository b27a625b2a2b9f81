import { fenced } from '../../platform/cluster/fenced.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';
import type { Database, Sql } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Watch } from '../../runtime/watch.ts';
import { saveSoftware } from './installed-repository.ts';
import { countedOf, newlyCounted, softwareChange } from './reported.ts';
import { sampleReport } from './sampling.ts';
import {
  findState,
  findStatus,
  insertStatus,
  listActivatedStates,
  renewStatus,
  type StatePage,
  type StoredState,
} from './status-repository.ts';

/** The current state of a device. Times are microseconds, null when unknown. */
export interface DeviceState {
  deviceId: string;
  connected: boolean;
  lastSeenAt: Micros | null;
  /** The last reported value of each field of the schema mqtt/status; computed when it is read. */
  readonly reported: Record<string, unknown>;
  reportedAt: Micros | null;
}

/** The versions of the firmware and of the management client that a device last reported; null when not reported. */
interface Versions {
  firmware: string | null;
  managementClient: string | null;
}

interface Parts {
  database: Database;
  clock: Clock;
  trust: Pick<ClockTrust, 'isHeld'>;
  watch: Watch;
  /** The time at which a device was last heard of (microseconds), if it is newer than the stored one. */
  presence: { newerThanStored(deviceId: string): number | undefined };
  /**
   * Returns those of the devices that are connected to any node. The answer is a promise only if there are other nodes.
   */
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** Whether samples of what devices report are kept. */
  keepsSamples: boolean;
}

export type Statuses = ReturnType<typeof createStatuses>;

/** The reports of devices on their status topic, and the times at which they were last heard of. */
export function createStatuses({ database, clock, trust, watch, presence, connected, keepsSamples }: Parts) {
  function toState(stored: StoredState, isConnected: ReadonlySet<string>): DeviceState {
    const { deviceId, reportedAt, lastSeenAt } = stored;
    // A report is stored before it is acknowledged, so after a crash it may be newer than the stored presence.
    const seen = Math.max(presence.newerThanStored(deviceId) ?? 0, lastSeenAt ?? 0, reportedAt ?? 0);
    return {
      deviceId,
      connected: isConnected.has(deviceId),
      lastSeenAt: seen === 0 ? null : seen,
      get reported() {
        return Object.fromEntries(Object.entries(stored.reported ?? {}).map(([name, { value }]) => [name, value]));
      },
      reportedAt,
    };
  }

  async function reportedText(sql: Sql, deviceId: string, ...names: string[]): Promise<(string | null)[]> {
    const reported = (await findStatus(sql, deviceId))?.reported;
    return names.map((name) => {
      const value = reported?.[name]?.value;
      return typeof value === 'string' ? value : null;
    });
  }

  async function versions(sql: Sql, deviceId: string): Promise<Versions> {
    const names = ['firmwareVersion', 'managementClientVersion'];
    const [firmware = null, managementClient = null] = await reportedText(sql, deviceId, ...names);
    return { firmware, managementClient };
  }

  return {
    /** Merges a report field by field; fields that it lacks keep their last reported value. */
    async report(deviceId: string, fields: object, fence?: Fence): Promise<void> {
      await database.transact(
        async (unit) => {
          const stored = await fenced(unit, fence, findStatus(unit, deviceId));
          const at = clock.now();
          const news = Object.entries(fields).map(([name, value]) => [name, { value: value as unknown, at }] as const);
          const before = stored?.reported ?? {};
          const reported = { ...before, ...Object.fromEntries(news) };
          const status = { reported, reportedAt: at };
          if (stored) renewStatus(unit, deviceId, status, newlyCounted(before, reported));
          else insertStatus(unit, deviceId, status, countedOf(reported));
          const software = 'software' in fields ? softwareChange(before, reported) : undefined;
          if (software) saveSoftware(unit, deviceId, software, at);
          if (keepsSamples && stored) {
            const report = { before: stored, after: status, software, mayThin: !trust.isHeld() };
            await sampleReport(unit, deviceId, report);
          }
        },
        { device: deviceId },
      );
      if (watch.devices > 0) watch.device(deviceId);
    },

    /** The state of an existing device (op 7). */
    async find(deviceId: string): Promise<DeviceState> {
      const nothing = { deviceId, reported: null, reportedAt: null, lastSeenAt: null };
      const isConnected = await connected([deviceId]);
      return toState((await findState(database.read, deviceId)) ?? nothing, isConnected);
    },

    /** A page of an application's activated devices by deviceId, whether there are more, and their total number (op 8). */
    async list(applicationId: string, page: StatePage) {
      const { states, more, total } = await listActivatedStates(database.read, applicationId, page);
      const isConnected = await connected(states.map(({ deviceId }) => deviceId));
      return { devices: states.map((stored) => toState(stored, isConnected)), more, total };
    },

    /** The firmware version that the device last reported, or null. */
    async firmwareVersion(deviceId: string): Promise<string | null> {
      const [version = null] = await reportedText(database.read, deviceId, 'firmwareVersion');
      return version;
    },

    /**
     * The last reported versions. They tell whether the device is too old to answer some commands. Null when not
     * reported.
     */
    versions: (deviceId: string): Promise<Versions> => versions(database.read, deviceId),

    /** The last reported versions of many devices. */
    async versionsOf(deviceIds: readonly string[]): Promise<Map<string, Versions>> {
      const found = new Map<string, Versions>();
      // The reports are read one after another, because a report can be long.
      for (const deviceId of deviceIds) found.set(deviceId, await versions(database.aside, deviceId));
      return found;
    },

    /** The stored report of a device, with the time of each field. */
    reported: (deviceId: string) => findStatus(database.read, deviceId),
  };
}
