import { DomainError } from '@lapel/schemas/contracts/errors';
import type { DeviceRow, FleetDeviceQuery } from '@lapel/schemas/contracts/types';
import type { FleetPlace } from '../core/selection/fleet-repository.ts';
import { readFleetFilter } from '../core/selection/read-fleet-filter.ts';
import { toUtc } from '../runtime/clock.ts';
import type { Micros } from '../runtime/units.ts';
import type { FleetDevice, FleetQuery } from './devices.ts';

/** Makes the row of a device for lists and for the feed. */
export const deviceRow = (device: FleetDevice): DeviceRow => ({
  deviceId: device.deviceId,
  developerId: device.developerId,
  applicationId: device.applicationId,
  activation: device.activation,
  blocked: device.blocked,
  connected: device.connected,
  lastSeenAt: device.lastSeenAt === null ? null : toUtc(device.lastSeenAt),
  firmware: device.firmware,
  battery: device.battery,
  unfinished: device.unfinished,
  tags: device.tags,
});

/**
 * The cursor that a page of devices begins after, `[SEEN.]DEVICE`. Lists in the order of the time at which devices were
 * last seen need both parts.
 */
export const cursorOf = ({ deviceId, seenAt }: FleetPlace, order: FleetQuery['order']): string =>
  order === 'deviceId' ? deviceId : `${seenAt}.${deviceId}`;

function placeOf(cursor: string, order: FleetQuery['order']): FleetPlace {
  const [deviceId = '', seenAt] = cursor.split('.').reverse();
  if ((seenAt === undefined) === (order === 'deviceId')) return { deviceId, seenAt: Number(seenAt ?? 0) };
  const msg = 'Input should be the cursor from the Link of a page in the same order';
  throw DomainError.invalid({ loc: ['query', 'after'], msg, type: 'string_pattern_mismatch' });
}

/** Turns the query of a request into the query of the view. Throws REQUEST_INVALID. */
export function readFleetQuery(query: FleetDeviceQuery, now: Micros): FleetQuery {
  const { sort, after, limit } = query;
  return {
    ...readFleetFilter(query, now),
    limit,
    ...(after !== undefined && { after: placeOf(after, sort) }),
    order: sort,
  };
}
