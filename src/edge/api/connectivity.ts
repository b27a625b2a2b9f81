import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';
import { submit } from './submit.ts';

/** Asks a device for its connectivity state; the answer arrives at deviceEvent. */
export function readConnectivity(
  services: ApiServices,
  input: AtDevice<never, 'rest/connectivity-query'>,
): Promise<Answer> {
  return submit(services, withoutKey(input), { operation: 'getConnectivityState', parameters: input.query });
}

/** Changes the connectivity state of a device. */
export function changeConnectivity(services: ApiServices, input: AtDevice<'rest/connectivity-state'>): Promise<Answer> {
  return submit(services, input, { operation: 'setConnectivityState', parameters: input.body });
}

/** Asks a device for the list of peers that it is, or could be, connected to. */
export function listConnectivity(
  services: ApiServices,
  input: AtDevice<never, 'rest/connectivity-query'>,
): Promise<Answer> {
  return submit(services, withoutKey(input), { operation: 'listConnectivity', parameters: input.query });
}

/** Pairs a device with a Bluetooth device. */
export function pairBluetooth(services: ApiServices, input: AtDevice<'rest/bluetooth-pairing'>): Promise<Answer> {
  return submit(services, input, { operation: 'pairBluetooth', parameters: input.body });
}

/**
 * Removes the headers of a GET request, so that an Idempotency-Key is ignored: it has a meaning on POST, PUT and DELETE
 * only, and each GET asks the device again.
 */
const withoutKey = <Input extends { headers: object }>(input: Input): Input => ({ ...input, headers: {} });
