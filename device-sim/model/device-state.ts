import { type Bluetooth, plainBluetooth } from './bluetooth.ts';
import { NEW_FIRMWARE } from './firmware-versions.ts';

/** What is installed under one package name. */
export interface InstalledSoftware {
  /** The versionName that the package says it has, whatever name it was distributed under. */
  readonly version: string;
  readonly versionCode: number;
  /** Bytes of storage that it takes. */
  readonly size: number;
}

/** What a device keeps. Only operations change it, and peers that come and go. */
export interface DeviceState {
  activation: { applicationId: string; clientId: string } | null;
  apns: readonly Record<string, unknown>[];
  networks: readonly Record<string, unknown>[];
  /** By package name. */
  software: Readonly<Record<string, InstalledSoftware>>;
  firmwareVersion: string;
  managementClientVersion: string;
  /** BCP 47. */
  lang: string;
  bluetooth: Bluetooth;
}

/** What a device is before its first command. */
export interface Equipment {
  /** Bytes, for software and for what is being downloaded. */
  readonly storage: number;
  readonly firmwareVersion: string;
  readonly managementClientVersion: string;
  readonly software: Readonly<Record<string, InstalledSoftware>>;
  readonly lang: string;
}

/** The first firmware that knows every operation of the specification, on 8 GiB. */
export const plainEquipment: Equipment = {
  storage: 8 * 1024 ** 3,
  ...NEW_FIRMWARE,
  software: {},
  lang: 'en-US',
};

export const newState = (equipment: Equipment): DeviceState => {
  const { software, firmwareVersion, managementClientVersion, lang } = equipment;
  const bluetooth = plainBluetooth;
  return {
    activation: null,
    apns: [],
    networks: [],
    software,
    firmwareVersion,
    managementClientVersion,
    lang,
    bluetooth,
  };
};
