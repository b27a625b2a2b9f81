import type { DeviceState } from './device-state.ts';
import { NEW_FIRMWARE } from './firmware-versions.ts';

/** The four Bluetooth operations, which older firmware does not know. */
const BLUETOOTH_OPERATIONS: ReadonlySet<string> = new Set([
  'getConnectivityState',
  'setConnectivityState',
  'listConnectivity',
  'pairBluetooth',
]);
/** Compares versions number by number: 9.001.0 is 9.1.0. */
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

/** Whether a device is too old for an operation: it sends the PUBACK of such a command, and never answers it. */
export const isTooOldFor = (operation: string, { firmwareVersion, managementClientVersion }: Versions): boolean =>
  BLUETOOTH_OPERATIONS.has(operation) &&
  !(
    isAtLeast(firmwareVersion, NEW_FIRMWARE.firmwareVersion) &&
    isAtLeast(managementClientVersion, NEW_FIRMWARE.managementClientVersion)
  );

/** A firmware update includes the management client of the new firmware. */
export const updated = ({ managementClientVersion }: Versions, firmwareVersion: string): Versions => ({
  firmwareVersion,
  managementClientVersion:
    isAtLeast(firmwareVersion, NEW_FIRMWARE.firmwareVersion) &&
    !isAtLeast(managementClientVersion, NEW_FIRMWARE.managementClientVersion)
      ? NEW_FIRMWARE.managementClientVersion
      : managementClientVersion,
});
