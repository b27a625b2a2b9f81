import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { SoftwareChange } from './reported.ts';
import type { SampleValues, StoredChange } from './sample.ts';
import { findChanges, saveChanges, saveSample, thinSamples } from './sample-repository.ts';
import type { ReportedFields } from './status-repository.ts';

export const HOUR_MICROS = 3_600_000_000;
const HOURS_OF_DAY = 24;
/** Samples that are older than so many hours are thinned to one in `step` hours. */
const THINNED = [
  { age: 7 * HOURS_OF_DAY, step: 6 },
  { age: 30 * HOURS_OF_DAY, step: HOURS_OF_DAY },
] as const;
/** The most changes of versions that are kept for an hour of a device. */
const MOST_CHANGES = 20;

const LARGEST = 2 ** 31 - 1;
const LARGEST_SMALL = 2 ** 15 - 1;
const MEBIBYTE = 1024 ** 2;

export const hourOf = (at: Micros): number => Math.floor(at / HOUR_MICROS);

const within = (value: unknown, most: number): number | null =>
  typeof value === 'number' ? Math.max(-most, Math.min(most, Math.trunc(value))) : null;

/** The values of a sample in the fields that a device has reported. */
export function valuesOf(reported: ReportedFields): SampleValues {
  const of = (name: string) => (reported[name]?.value ?? {}) as Record<string, unknown>;
  const { level, charging } = of('battery');
  const { free } = of('storage');
  return {
    battery: within(level, LARGEST_SMALL),
    isCharging: typeof charging === 'boolean' ? Number(charging) : null,
    rssi: within(of('network')['rssi'], LARGEST_SMALL),
    freeMebibytes: typeof free === 'number' ? within(free / MEBIBYTE, LARGEST) : null,
  };
}

/** The change of the firmware by a report, and those of the packages. What was reported for the first time is none. */
function changesOf(before: ReportedFields, after: ReportedFields, software: SoftwareChange | undefined) {
  const changes: (readonly [name: string | null, was: string | null, version: string | null])[] = [];
  const [was, is] = [before['firmwareVersion']?.value, after['firmwareVersion']?.value];
  if (typeof was === 'string' && typeof is === 'string' && was !== is) changes.push([null, was, is]);
  if (software && before['software']) {
    for (const [name, version, old] of software.set) changes.push([name, old, version]);
    for (const [name, old] of software.gone) changes.push([name, old, null]);
  }
  return changes;
}

/**
 * The hour of the day in which a device's old samples are thinned. It differs from device to device, so that a fleet does
 * not thin at midnight.
 */
const shiftOf = (deviceId: string): number => Number(deviceId.slice(-4)) % HOURS_OF_DAY || 0;

/** A report that is being stored, beside what was stored before. */
interface Report {
  before: { reported: ReportedFields; reportedAt: Micros };
  after: { reported: ReportedFields; reportedAt: Micros };
  /** How the installed software has changed; undefined when the report is not about it. */
  software: SoftwareChange | undefined;
  /** False while the clock is not believed: a wrong time would thin samples that are young. */
  mayThin: boolean;
}

/**
 * Stores what a device reported last in an hour, with its first report of a later hour: until then this is its status, so a
 * report costs no statement more unless an hour has begun, or a version has changed.
 */
export async function sampleReport(
  unit: UnitOfWork,
  deviceId: string,
  { before, after, software, mayThin }: Report,
): Promise<void> {
  const [past, hour] = [hourOf(before.reportedAt), hourOf(after.reportedAt)];
  if (past !== hour) {
    saveSample(unit, deviceId, past, valuesOf(before.reported));
    const shift = shiftOf(deviceId);
    const beginOfDay = (of: number): number => of - ((of + shift) % HOURS_OF_DAY);
    const [from, to] = [beginOfDay(past), beginOfDay(hour)];
    if (mayThin && from < to)
      for (const { age, step } of THINNED) thinSamples(unit, deviceId, { from: from - age, to: to - age, step });
  }
  const changes = changesOf(before.reported, after.reported, software);
  if (changes.length === 0) return;
  const second = Math.floor((after.reportedAt - hour * HOUR_MICROS) / 1_000_000);
  const known = await findChanges(unit, deviceId, hour);
  const all = [...known, ...changes.map((change): StoredChange => [second, ...change])];
  saveChanges(unit, deviceId, hour, valuesOf(after.reported), all.slice(-MOST_CHANGES));
}
