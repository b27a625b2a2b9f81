import type { Device } from '../model/device.ts';
import type { DeviceEvents } from '../model/device-events.ts';

/** The events of devices, with the device as first argument; and the replacement of a device by another one. */
export type FleetEvents = { [Name in keyof DeviceEvents]: [device: Device, ...DeviceEvents[Name]] } & {
  replaced: [former: Device, device: Device];
};
