import type { Life } from '../fleet/life.ts';
import type { Device } from '../model/device-options.ts';
import { callOf } from './plan.ts';

/** What people do who wear the devices, by the names that scenarios have for it. */
const WEARERS: Readonly<Record<string, (device: Device, seed: number, number: number, life: Life) => void>> = {
  call: (device, seed, number, life) => device.call(callOf(seed, number, life)),
  uploadFile: (device) => device.uploadFile(),
  pressButton: (device) => device.pressButton(),
  movePeer: (device) => device.movePeer(),
};

/** Whether something is done by those who wear the devices; else it is the customer's. */
export const isWorn = (doing: string): boolean => Object.hasOwn(WEARERS, doing);

/** Does it. `number`: of the action; it decides how long a call is. */
export const wear = (doing: string, device: Device, seed: number, number: number, life: Life): void =>
  WEARERS[doing]?.(device, seed, number, life);
