import type { Values } from './call-contents.ts';

/** The actions of a customer on a device. */
export const ACTIONS = {
  activate: 'activates it',
  deactivate: 'deactivates it',
  setWifi: 'sets a Wi-Fi network that only this device has',
  setApn: 'sets the access point (APN) of its mobile network',
  setLanguage: 'sets its language',
  readBluetooth: 'asks it whether Bluetooth is on',
  setBluetooth: 'switches Bluetooth on, and sometimes off',
  listBluetooth: 'asks it for the Bluetooth devices in its reach',
  pairBluetooth: 'pairs it with a Bluetooth device',
  diagnose: 'asks it for its log and its status, which it uploads to the store of the customer',
  install: 'installs the `release` on it; the first action with that release uploads and distributes it',
  updateFirmware: 'updates its firmware to the `release`, which the first such action adds to the service',
  cancel: 'cancels its newest unfinished transaction, if it has one',
  readStatus: 'reads its status',
  replaceKey:
    'issues a new authenticationKey for the application, whichever device it is: webhooks must be signed with it, and for a day with the former one as well',
} as const satisfies Record<string, string>;

/** The action of a customer that is about many devices at once. */
export const ROLLOUT = {
  rollout: 'starts a rollout, which carries out one operation for many devices, in stages: see Rollouts',
} as const satisfies Record<string, string>;

export type ActionName = keyof typeof ACTIONS;

/** The release that `install` or `updateFirmware` installs. */
export interface Release {
  /** By default `com.example.simulated`; for firmware `com.lapel.firmware`. */
  readonly package?: string;
  readonly version: string;
  /** Makes a bad release: the file names another package, version or version code than was registered. */
  readonly says?: { readonly package?: string; readonly version?: string; readonly versionCode?: number };
  /** Bytes of the file; 20,000 by default. */
  readonly size?: number;
  /** An existing file; without it the simulator makes one. */
  readonly file?: string;
}

/** The terms of the command that an action sends, as the query of its operation has them. */
export interface Terms {
  /** Seconds in which the command must be delivered. */
  readonly expireIn?: number;
  /** Seconds from the delivery in which the device must answer. */
  readonly answerWithin?: number;
  readonly supersede?: 'true';
  /** Seconds in which the device has to reach the service with a new list of networks. */
  readonly revertAfter?: number;
}

/** The parameter of a command with that term. */
export const triedFor = ({ revertAfter }: Terms): Pick<Terms, 'revertAfter'> =>
  revertAfter === undefined ? {} : { revertAfter };

/** Actions that may have `revertAfter`. */
export const REVERTIBLE: readonly string[] = ['setWifi', 'setApn'] satisfies ActionName[];

/** Actions whose command supersedes no older one. */
export const SUPERSEDE_NONE: readonly string[] = ['activate', 'deactivate'] satisfies ActionName[];

/** Actions that send no command. */
export const COMMANDLESS: readonly string[] = ['cancel', 'readStatus', 'replaceKey'] satisfies ActionName[];

/** One action of the run. Its number decides all random choices for it, such as the network to set. */
export interface Action {
  readonly do: ActionName;
  /** The number of the action in the run, from 1; 0 for an activation that is no action of the scenario. */
  readonly number: number;
  readonly release?: Release;
  readonly terms?: Terms;
  /** The row of a file with the values for the device; without it they follow from the number. */
  readonly values?: Values;
}
