/** What a customer does with a device. */
export const ACTIONS = {
  activate: 'activates it',
  deactivate: 'deactivates it',
  setWifi: 'gives it a Wi-Fi network of its own',
  setApn: 'gives it an access point name',
  setLanguage: 'sets its language',
  readBluetooth: 'asks it whether Bluetooth is on',
  setBluetooth: 'switches Bluetooth on, now and then off',
  listBluetooth: 'asks it for the Bluetooth devices that it sees',
  pairBluetooth: 'pairs it with a Bluetooth device',
  install: 'installs a version of a package, which is uploaded and distributed first',
  updateFirmware: 'updates its firmware to a version of the list of the service',
  cancel: 'cancels the newest unfinished transaction, when there is one',
  readStatus: 'reads its status',
} as const satisfies Record<string, string>;

export type ActionName = keyof typeof ACTIONS;

export const isActionName = (text: string): text is ActionName => Object.hasOwn(ACTIONS, text);

/** A release that `install` or `updateFirmware` is about. */
export interface Release {
  /** By default `com.example.simulated`, of firmware `com.lapel.firmware`. */
  readonly package?: string;
  readonly version: string;
  /** What the file says that it is, where that is something else: a bad release. */
  readonly says?: { readonly package?: string; readonly version?: string; readonly versionCode?: number };
  /** Bytes of the file; 20,000 by default. */
  readonly size?: number;
  /** A file of one's own instead of a made one. */
  readonly file?: string;
}

/** One thing to do. Everything that is chosen about it follows from its number. */
export interface Action {
  readonly do: ActionName;
  /** Its number in the run, from 1; 0 when it is none of its actions. */
  readonly number: number;
  readonly release?: Release;
}
