import type { Life } from '../fleet/life.ts';
import type { Device } from '../model/device-options.ts';
import { callOf } from './plan.ts';

interface Worn {
  readonly about: string;
  readonly wear: (device: Device, seed: number, number: number, life: Life) => void;
}

/** The actions of the people who wear the devices, by their names in scenarios. */
export const WEARERS: Readonly<Record<string, Worn>> = {
  call: {
    about: 'makes a call; `life` of the group says how long it is and whether it is recorded',
    wear: (device, seed, number, life) => device.call(callOf(seed, number, life)),
  },
  uploadFile: { about: 'uploads a file of the customer’s application', wear: (device) => device.uploadFile() },
  pressButton: { about: 'presses the SOS button', wear: (device) => device.pressButton() },
  movePeer: { about: 'takes a paired Bluetooth device away, or brings it back', wear: (device) => device.movePeer() },
};

/** Whether the wearer of the device does this action; otherwise the customer does it. */
export const isWorn = (doing: string): boolean => Object.hasOwn(WEARERS, doing);

/**
 * Carries out an action of a wearer. `number`, the number of the action in the run, decides the length and the other
 * details of a call.
 */
export const wear = (doing: string, device: Device, seed: number, number: number, life: Life): void =>
  WEARERS[doing]?.wear(device, seed, number, life);
