import { readTermsOfQuery } from '../core/selection/read-selector.ts';
import { DomainError } from '../errors.ts';
import type { DeviceRow, FleetDeviceQuery } from '../platform/contracts/types.ts';
import { readDuration, toUtc } from '../runtime/clock.ts';
import type { Micros } from '../runtime/units.ts';
import type { FleetDevice, FleetQuery } from './devices.ts';
import type { FleetPlace } from './devices-repository.ts';

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
  const { prefix, developerId, applicationId, activation, batteryBelow, batteryFrom, notSeenFor, sort, after, limit } =
    query;
  return {
    ...(prefix !== undefined && { prefix }),
    ...(developerId !== undefined && { developerId }),
    ...(applicationId !== undefined && { applicationId }),
    ...(activation !== undefined && { activation }),
    ...(batteryBelow !== undefined && { batteryBelow }),
    ...(batteryFrom !== undefined && { batteryFrom }),
    limit,
    terms: readTermsOfQuery(query, now),
    ...(notSeenFor !== undefined && { seenBefore: now - readDuration(notSeenFor) }),
    ...(after !== undefined && { after: placeOf(after, sort) }),
    order: sort,
  };
}
