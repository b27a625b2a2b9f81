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
