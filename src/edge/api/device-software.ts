import { firmwareState } from '../../core/software/firmware-state.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';
import { submit } from './submit.ts';

/** Op 28. */
export function installSoftware(services: ApiServices, input: AtDevice<'rest/install-request'>): Promise<Answer> {
  return submit(services, input, { operation: 'installSoftware', parameters: input.body });
}

/** A firmware update to a version of op 29's list. */
export function updateFirmware(services: ApiServices, input: AtDevice<'rest/install-request'>): Promise<Answer> {
  return submit(services, input, { operation: 'updateFirmware', parameters: input.body });
}

/** The firmware of a device as it last reported it. */
export async function readFirmware(
  { devices, statuses, software }: ApiServices,
  { params, caller }: AtDevice,
): Promise<Answer> {
  await devices.requireActivated(caller, params.deviceId);
  const reported = await statuses.firmwareVersion(params.deviceId);
  return { status: 200, body: firmwareState(reported, await software.available.firmware()) };
}
