/** The first firmware with the Bluetooth operations, and its management client. */
export const NEW_FIRMWARE = { firmwareVersion: '9.001.0', managementClientVersion: '2.3.1' };
/** The versions of a device without the Bluetooth operations. */
export const OLD_FIRMWARE = { firmwareVersion: '8.900.0', managementClientVersion: '2.2.0' };
