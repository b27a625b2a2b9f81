import { readDuration, toUtc } from '../clock.ts';
import type { DeviceRow, FleetDeviceQuery } from '../contracts/types.ts';
import type { FleetDevice, FleetQuery } from '../devices/fleet.ts';
import type { FleetPlace } from '../devices/fleet-repository.ts';
import { DomainError } from '../errors.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import type { AdminServices } from './services.ts';

export const utcOrNull = (micros: number | null): string | null => (micros === null ? null : toUtc(micros));

/** A device as lists of many, and what follows them, show it. */
export const fleetDeviceBody = (device: FleetDevice): DeviceRow => ({
  deviceId: device.deviceId,
  developerId: device.developerId,
  applicationId: device.applicationId,
  activation: device.activation,
  blocked: device.blocked,
  connected: device.connected,
  lastSeenAt: utcOrNull(device.lastSeenAt),
  firmware: device.firmware,
  battery: device.battery,
  unfinished: device.unfinished,
});

/** `[SEEN.]DEVICE`: a place in an order by time needs both. */
const cursorOf = ({ deviceId, seenAt }: FleetPlace, order: FleetQuery['order']): string =>
  order === 'deviceId' ? deviceId : `${seenAt}.${deviceId}`;

function placeOf(cursor: string, order: FleetQuery['order']): FleetPlace {
  const [deviceId = '', seenAt] = cursor.split('.').reverse();
  if ((seenAt === undefined) === (order === 'deviceId')) return { deviceId, seenAt: Number(seenAt ?? 0) };
  const msg = 'Input should be what the Link of a page in the same order says';
  throw DomainError.invalid({ loc: ['query', 'after'], msg, type: 'string_pattern_mismatch' });
}

/** What a query asks for. Throws REQUEST_INVALID. */
function readQuery(query: FleetDeviceQuery, now: number): FleetQuery {
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

export async function listFleetDevices(
  { fleet, clock }: AdminServices,
  input: Input<unknown, unknown, FleetDeviceQuery>,
): Promise<Answer> {
  const query = readQuery(input.query, clock.now());
  const { devices, next } = await fleet.list(query);
  const headers = next ? nextPageAfter(input, query, { after: cursorOf(next, query.order) }) : {};
  return { status: 200, headers, body: new JsonSlices({ devices: lazily(devices, fleetDeviceBody) }) };
}
