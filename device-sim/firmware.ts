import type { DeviceState } from './device-state.ts';

/** The four operations that came with a firmware, and what a device needs to know them. */
const BLUETOOTH_OPERATIONS: ReadonlySet<string> = new Set([
  'getConnectivityState',
  'setConnectivityState',
  'listConnectivity',
  'pairBluetooth',
]);
const NEEDED = { firmware: '9.001.0', managementClient: '2.3.1' };

/** A device before all that. */
export const OLD_FIRMWARE = { firmwareVersion: '8.900.0', managementClientVersion: '2.2.0' };
export const NEW_FIRMWARE = { firmwareVersion: NEEDED.firmware, managementClientVersion: NEEDED.managementClient };

/** Compared by their numbers, part by part: 9.001.0 is 9.1.0. */
export function isAtLeast(version: string, wanted: string): boolean {
  const numbers = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number);
  const [have, want] = [numbers(version), numbers(wanted)];
  for (let place = 0; place < Math.max(have.length, want.length); place += 1) {
    const difference = (have[place] ?? 0) - (want[place] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

type Versions = Pick<DeviceState, 'firmwareVersion' | 'managementClientVersion'>;

/** Whether a device acknowledges such a command to MQTT and then does nothing with it. */
export const isTooOldFor = (operation: string, { firmwareVersion, managementClientVersion }: Versions): boolean =>
  BLUETOOTH_OPERATIONS.has(operation) &&
  !(isAtLeast(firmwareVersion, NEEDED.firmware) && isAtLeast(managementClientVersion, NEEDED.managementClient));

/** A new firmware brings the management client along that belongs to it. */
export const updated = ({ managementClientVersion }: Versions, firmwareVersion: string): Versions => ({
  firmwareVersion,
  managementClientVersion:
    isAtLeast(firmwareVersion, NEEDED.firmware) && !isAtLeast(managementClientVersion, NEEDED.managementClient)
      ? NEEDED.managementClient
      : managementClientVersion,
});
