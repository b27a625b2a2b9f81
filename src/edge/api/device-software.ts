import { firmwareState } from '../../core/software/firmware-state.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';

type Services = Pick<ApiServices, 'devices' | 'statuses' | 'software'>;

/** Reads the firmware that a device last reported. */
export async function readFirmware(
  { devices, statuses, software }: Services,
  { params, caller }: AtDevice,
): Promise<Answer> {
  await devices.requireActivated(caller, params.deviceId);
  const reported = await statuses.firmwareVersion(params.deviceId);
  return { status: 200, body: firmwareState(reported, await software.available.firmware()) };
}
