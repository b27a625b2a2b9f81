import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';
import { submit } from './submit.ts';

/** Reads the activation status of a device (op 4). */
export async function readActivation({ devices }: ApiServices, { params, caller }: AtDevice): Promise<Answer> {
  return { status: 200, body: await devices.activationStatus(caller, params.deviceId) };
}

/** Activates a device (op 5). */
export function activate(services: ApiServices, input: AtDevice<'rest/activation-request'>): Promise<Answer> {
  return submit(services, input, { operation: 'activate', parameters: input.body });
}

/** Deactivates a device (op 6). */
export function deactivate(services: ApiServices, input: AtDevice): Promise<Answer> {
  return submit(services, input, { operation: 'deactivate', parameters: {} });
}
