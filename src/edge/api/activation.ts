import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';

type Services = Pick<ApiServices, 'devices'>;

/** Reads the activation status of a device (op 4). */
export async function readActivation({ devices }: Services, { params, caller }: AtDevice): Promise<Answer> {
  return { status: 200, body: await devices.activationStatus(caller, params.deviceId) };
}
