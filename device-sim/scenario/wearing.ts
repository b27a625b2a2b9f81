import type { Life } from '../fleet/life.ts';
import type { Device } from '../model/device-options.ts';
import { callOf } from './plan.ts';

interface Worn {
  readonly about: string;
  readonly wear: (device: Device, seed: number, number: number, life: Life) => void;
}

/** What people do who wear the devices, by the names that scenarios have for it. */
export const WEARERS: Readonly<Record<string, Worn>> = {
  call: {
    about: 'makes a call, as long and recorded as `life` says',
    wear: (device, seed, number, life) => device.call(callOf(seed, number, life)),
  },
  uploadFile: { about: 'sends a file', wear: (device) => device.uploadFile() },
  pressButton: { about: 'presses the SOS button', wear: (device) => device.pressButton() },
  movePeer: { about: 'takes a paired Bluetooth device away, or brings it back', wear: (device) => device.movePeer() },
};

/** Whether something is done by those who wear the devices; else it is the customer's. */
export const isWorn = (doing: string): boolean => Object.hasOwn(WEARERS, doing);

/** Does it. `number`: of the action; it decides how long a call is. */
export const wear = (doing: string, device: Device, seed: number, number: number, life: Life): void =>
  WEARERS[doing]?.wear(device, seed, number, life);
