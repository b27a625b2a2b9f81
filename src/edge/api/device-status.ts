import type { DeviceHardware, DeviceStatus, HardwareProperties } from '@lapel/schemas/contracts/types';
import type { DeviceState } from '../../core/devices/statuses.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtDevice, AtOwnDevice } from './services.ts';

type Services = Pick<ApiServices, 'devices' | 'statuses' | 'formatTime'>;

type Reported = Omit<DeviceStatus, 'deviceId' | 'connected' | 'lastSeenAt' | 'reportedAt'>;

const NOTHING_REPORTED: Reported = {
  lang: null,
  firmwareVersion: null,
  managementClientVersion: null,
  battery: null,
  storage: null,
  network: null,
  bluetooth: null,
  software: null,
};

function statusBody(state: DeviceState, formatTime: (micros: number) => string): DeviceStatus {
  const time = (micros: number | null): string | null => (micros === null ? null : formatTime(micros));
  return {
    deviceId: state.deviceId,
    connected: state.connected,
    lastSeenAt: time(state.lastSeenAt),
    ...NOTHING_REPORTED,
    // These fields were checked by the schema mqtt/status when they were stored.
    ...(state.reported as Partial<Reported>),
    reportedAt: time(state.reportedAt),
  };
}

/** Reads the status of a device (op 7). */
export async function readStatus(
  { devices, statuses, formatTime }: Services,
  { params, caller }: AtDevice,
): Promise<Answer> {
  await devices.requireActivated(caller, params.deviceId);
  return { status: 200, body: statusBody(await statuses.find(params.deviceId), formatTime) };
}

/** Lists the status of the devices of the application (op 8). */
export async function listStatuses(
  { statuses, formatTime }: Services,
  input: AtApplication<never, 'rest/device-status-query'>,
): Promise<Answer> {
  const { devices, more, total } = await statuses.list(input.caller.applicationId, input.query);
  const last = devices.at(-1);
  return {
    status: 200,
    headers: more && last ? nextPageAfter(input, input.query, { after: last.deviceId }) : {},
    body: new JsonSlices({ devices: lazily(devices, (state) => statusBody(state, formatTime)), total }),
  };
}

/** Reads the hardware properties of a device (op 9). */
export async function readHardware({ devices }: Services, { params, caller }: AtOwnDevice): Promise<Answer> {
  const { deviceId, hardwareProperties } = await devices.requireLinked(caller.developerId, params.deviceId);
  const { model = null, camera = null, ...addresses } = (hardwareProperties ?? {}) as NonNullable<HardwareProperties>;
  const body: DeviceHardware = { deviceId, model, camera, ...addresses };
  return { status: 200, body };
}
