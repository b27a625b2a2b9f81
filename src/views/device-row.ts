import { DomainError } from '../errors.ts';
import type { DeviceRow, FleetDeviceQuery } from '../platform/contracts/types.ts';
import { readDuration, toUtc } from '../runtime/clock.ts';
import type { FleetDevice, FleetQuery } from './devices.ts';
import type { FleetPlace } from './devices-repository.ts';

/** A device as lists of many, and what follows them, show it. */
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
});

/** `[SEEN.]DEVICE`: a place in an order by time needs both. */
export const cursorOf = ({ deviceId, seenAt }: FleetPlace, order: FleetQuery['order']): string =>
  order === 'deviceId' ? deviceId : `${seenAt}.${deviceId}`;

function placeOf(cursor: string, order: FleetQuery['order']): FleetPlace {
  const [deviceId = '', seenAt] = cursor.split('.').reverse();
  if ((seenAt === undefined) === (order === 'deviceId')) return { deviceId, seenAt: Number(seenAt ?? 0) };
  const msg = 'Input should be what the Link of a page in the same order says';
  throw DomainError.invalid({ loc: ['query', 'after'], msg, type: 'string_pattern_mismatch' });
}

/** What a query asks for. Throws REQUEST_INVALID. */
export function readFleetQuery(query: FleetDeviceQuery, now: number): FleetQuery {
  const { connected, firmware, notSeenFor, sort, after, ...rest } = query;
  if (query.version !== undefined && query.package === undefined) {
    throw DomainError.invalid({ loc: ['query', 'package'], msg: 'Field required', type: 'missing' });
  }
  return {
    ...rest,
    ...(connected !== undefined && { connected: connected === 'true' }),
    ...(firmware !== undefined && { firmware: firmware === '' ? null : firmware }),
    ...(notSeenFor !== undefined && { seenBefore: now - readDuration(notSeenFor) }),
    ...(after !== undefined && { after: placeOf(after, sort) }),
    order: sort,
  };
}
