import type { Device } from '../model/device.ts';
import type { DeviceEvents } from '../model/device-events.ts';

/** What devices let know, with the device first. */
export type FleetEvents = { [Name in keyof DeviceEvents]: [device: Device, ...DeviceEvents[Name]] };
