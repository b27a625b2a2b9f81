import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';
import { submit } from './submit.ts';

/** Connectivity state: it is asked of the device and arrives at deviceEvent. */
export function readConnectivity(
  services: ApiServices,
  input: AtDevice<never, 'rest/connectivity-query'>,
): Promise<Answer> {
  return submit(services, asked(input), { operation: 'getConnectivityState', parameters: input.query });
}

/** Change of the connectivity state. */
export function changeConnectivity(services: ApiServices, input: AtDevice<'rest/connectivity-state'>): Promise<Answer> {
  return submit(services, input, { operation: 'setConnectivityState', parameters: input.body });
}

/** Connectivity list: what the device is connected to, or could be. */
export function listConnectivity(
  services: ApiServices,
  input: AtDevice<never, 'rest/connectivity-query'>,
): Promise<Answer> {
  return submit(services, asked(input), { operation: 'listConnectivity', parameters: input.query });
}

/** Bluetooth pairing. */
export function pairBluetooth(services: ApiServices, input: AtDevice<'rest/bluetooth-pairing'>): Promise<Answer> {
  return submit(services, input, { operation: 'pairBluetooth', parameters: input.body });
}

/** Without its headers: an Idempotency-Key has a meaning on POST, PUT and DELETE only, and each GET asks the device anew. */
const asked = <Input extends { headers: object }>(input: Input): Input => ({ ...input, headers: {} });
