import { firmwareState } from '../../core/software/firmware-state.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';
import { submit } from './submit.ts';

/** Installs a distributed version on a device (op 28). */
export function installSoftware(services: ApiServices, input: AtDevice<'rest/install-request'>): Promise<Answer> {
  return submit(services, input, { operation: 'installSoftware', parameters: input.body });
}

/** Updates the firmware of a device to a version of the list of firmware (op 29). */
export function updateFirmware(services: ApiServices, input: AtDevice<'rest/install-request'>): Promise<Answer> {
  return submit(services, input, { operation: 'updateFirmware', parameters: input.body });
}

/** Reads the firmware that a device last reported. */
export async function readFirmware(
  { devices, statuses, software }: ApiServices,
  { params, caller }: AtDevice,
): Promise<Answer> {
  await devices.requireActivated(caller, params.deviceId);
  const reported = await statuses.firmwareVersion(params.deviceId);
  return { status: 200, body: firmwareState(reported, await software.available.firmware()) };
}
