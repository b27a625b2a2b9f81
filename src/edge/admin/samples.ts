import type { DeviceSamples, FleetSamples } from '@lapel/schemas/contracts/types';
import { readFleetFilter } from '../../core/selection/read-fleet-filter.ts';
import { toUtc } from '../../runtime/clock.ts';
import { momentOf } from '../http/moment.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'devices' | 'deviceSamples' | 'cohorts' | 'clock' | 'sampleDays'>;

const DAY_MICROS = 86_400_000_000;
const HOUR_SECONDS = 3600;
const MEBIBYTE = 1024 ** 2;

const bytesOf = (mebibytes: number | null): number | null => (mebibytes === null ? null : mebibytes * MEBIBYTE);
const rounded = (value: number | null, digits: number): number | null =>
  value === null ? null : Number(value.toFixed(digits));
const hoursOf = (seconds: number): number => Math.ceil(seconds / HOUR_SECONDS);

/** Reads what a device reported over time. */
export async function readDeviceSamples(
  { devices, deviceSamples, clock, sampleDays }: Services,
  { params: { deviceId }, query }: At<'deviceId', never, 'admin/device-samples-query'>,
): Promise<Answer> {
  await devices.find(deviceId);
  const since = momentOf(query, 'since') ?? clock.now() - DAY_MICROS;
  const found = await deviceSamples.read(deviceId, since, hoursOf(query.step));
  const body: DeviceSamples = {
    deviceId,
    keptDays: sampleDays,
    since: toUtc(found.since),
    stepSeconds: found.stepHours * HOUR_SECONDS,
    points: found.points.map(({ at, isCharging, freeMebibytes, connectedShare, ...values }) => ({
      at: toUtc(at),
      ...values,
      isCharging: isCharging === null ? null : isCharging === 1,
      freeBytes: bytesOf(freeMebibytes),
      connectedShare: rounded(connectedShare, 3),
    })),
    changes: found.changes.map(({ at, ...change }) => ({ at: toUtc(at), ...change })),
  };
  return { status: 200, body };
}

/** Compares devices by their version of a package, or of the firmware. */
export async function readFleetSamples(
  { cohorts, clock, sampleDays }: Services,
  { query }: At<never, never, 'admin/fleet-samples-query'>,
): Promise<Answer> {
  const { since: _, step, ...filter } = query;
  const found = await cohorts.read({
    filter: readFleetFilter(filter, clock.now()),
    package: query.package ?? null,
    since: momentOf(query, 'since') ?? clock.now() - 7 * DAY_MICROS,
    stepHours: hoursOf(step),
  });
  const body: FleetSamples = {
    keptDays: sampleDays,
    since: toUtc(found.since),
    stepSeconds: found.stepHours * HOUR_SECONDS,
    package: query.package ?? null,
    devices: found.devices,
    isWhole: found.isWhole,
    cohorts: found.cohorts.map(({ batteryDrop, connectedShare, freeMebibytes, points, ...cohort }) => ({
      ...cohort,
      batteryDropPerHour: rounded(batteryDrop, 2),
      connectedShare: rounded(connectedShare, 3),
      freeBytes: bytesOf(freeMebibytes === null ? null : Math.round(freeMebibytes)),
      points: points.map(({ at, batteryDrop: drop, drops }) => ({
        at: toUtc(at),
        batteryDropPerHour: Number(drop.toFixed(2)),
        drops,
      })),
    })),
  };
  return { status: 200, body };
}
