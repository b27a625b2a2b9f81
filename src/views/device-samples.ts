import { HOUR_MICROS, hourOf, valuesOf } from '../core/devices/sampling.ts';
import { findStatus } from '../core/devices/status-repository.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Micros } from '../runtime/units.ts';
import { type ConnectedTimes, connectedWithin } from './connected-times.ts';
import { listSamples, type SampleRow } from './samples-repository.ts';

/** The most points of an answer; a smaller step becomes larger. */
const MOST_POINTS = 1_000;

type Values = Omit<SampleRow, 'deviceId' | 'hour' | 'changes'>;

export interface SamplePoint extends Values {
  at: Micros;
  /** The share of the time in which the device was connected; null when it is not known. */
  connectedShare: number | null;
}

export interface VersionChange {
  at: Micros;
  package: string | null;
  was: string | null;
  version: string | null;
}

export interface DeviceSamples {
  since: Micros;
  stepHours: number;
  points: SamplePoint[];
  changes: VersionChange[];
}

const NOTHING: Values = { battery: null, isCharging: null, rssi: null, freeMebibytes: null };

/** The hours between two points, so that a period has MOST_POINTS at most. */
export const stepOf = (hours: number, asked: number, most = MOST_POINTS): number =>
  Math.max(asked, Math.ceil(hours / most));

/** The changes of versions in samples, in the order of time. */
export const changesIn = (rows: readonly Pick<SampleRow, 'hour' | 'changes'>[]): VersionChange[] =>
  rows.flatMap(({ hour, changes }) =>
    changes.map(([second, name, was, version]) => ({
      at: hour * HOUR_MICROS + second * 1_000_000,
      package: name,
      was,
      version,
    })),
  );

export type DeviceSampleViews = ReturnType<typeof createDeviceSamples>;

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Pick<Clock, 'now'>;
  times: ConnectedTimes;
}

/** Shows what a device reported over time. */
export function createDeviceSamples({ database: { aside }, clock, times }: Parts) {
  return {
    async read(deviceId: string, asked: Micros, askedStep: number): Promise<DeviceSamples> {
      const now = clock.now();
      const last = hourOf(now);
      const begin = Math.min(hourOf(asked), last);
      const step = stepOf(last - begin + 1, askedStep);
      const from = begin - (begin % step);
      const since = from * HOUR_MICROS;
      const knownSince = times.knownSince(since);
      const [rows, status, spans] = await Promise.all([
        listSamples(aside, [deviceId], from),
        findStatus(aside, deviceId),
        times.of([deviceId], knownSince),
      ]);
      const changes = changesIn(rows);
      // The last reported values have no sample before a later hour begins.
      if (status) rows.push({ deviceId, hour: hourOf(status.reportedAt), ...valuesOf(status.reported), changes: [] });
      const lastOf = new Map<number, Values>();
      for (const { hour, battery, isCharging, rssi, freeMebibytes } of rows)
        lastOf.set(hour - (hour % step), { battery, isCharging, rssi, freeMebibytes });
      const points: SamplePoint[] = [];
      for (let hour = from; hour <= last; hour += step) {
        const at = hour * HOUR_MICROS;
        const [begun, ended] = [Math.max(at, knownSince), Math.min(at + step * HOUR_MICROS, now)];
        const share = ended > begun ? connectedWithin(spans.get(deviceId) ?? [], begun, ended) / (ended - begun) : null;
        points.push({ at, ...(lastOf.get(hour) ?? NOTHING), connectedShare: share });
      }
      return { since, stepHours: step, points, changes };
    },
  };
}
