import { isDeviceId } from '../fleet/device-ids.ts';
import { UsageError } from '../usage-error.ts';
import { checkNames, MQTT, readKeys, readNumber, readText, readUrl, shown } from './arguments.ts';
import { createHandledFleet } from './handled-fleet.ts';
import { createHandlers } from './handlers.ts';
import { NATURE, readNature } from './nature.ts';
import type { DeviceOptions, SimulatedDevice } from './public.d.ts';

export const LARGEST_SEED = 4_294_967_295;

/** Checks the account of a device; `at` is the beginning of the names in errors. */
export function readAccount(at: string, { deviceId, credential }: { deviceId?: unknown; credential?: unknown }) {
  const id = readText(`${at}deviceId`, deviceId);
  if (!isDeviceId(id))
    throw new UsageError(`${at}deviceId`, `${shown(id)} is no IMEI: 15 digits, of which the last is the check digit`);
  return { deviceId: id, credential: readText(`${at}credential`, credential) };
}

/** Makes a device that exists in the service, and connects it. Throws a UsageError that names the wrong option. */
export async function openDevice(options: DeviceOptions): Promise<SimulatedDevice> {
  checkNames('device', options, [
    'mqtt',
    'deviceId',
    'credential',
    'activation',
    'on',
    'trustedKeys',
    'seed',
    ...NATURE,
  ]);
  const { mqtt, activation, on, seed = 1 } = options;
  const handled = createHandledFleet({
    accounts: [readAccount('', options)],
    url: readUrl('mqtt', mqtt, MQTT),
    seed: readNumber('seed', seed, { min: 0, max: LARGEST_SEED, whole: true }),
    nature: readNature(options),
    trustedKeys: readKeys('trustedKeys', options.trustedKeys),
    common: createHandlers(on),
  });
  if (activation) {
    const { applicationId, clientId } = activation;
    handled.fleet.devices[0]!.rememberActivation({
      applicationId: readText('activation.applicationId', applicationId),
      clientId: readText('activation.clientId', clientId),
    });
  }
  try {
    await handled.connect();
  } catch (error) {
    await handled.close();
    throw error;
  }
  return handled.devices[0]!;
}
