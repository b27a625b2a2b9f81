/** The first firmware that knows the Bluetooth operations, and the management client that belongs to it. */
export const NEW_FIRMWARE = { firmwareVersion: '9.001.0', managementClientVersion: '2.3.1' };
/** A device before all that. */
export const OLD_FIRMWARE = { firmwareVersion: '8.900.0', managementClientVersion: '2.2.0' };
