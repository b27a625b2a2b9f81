import { type Bluetooth, plainBluetooth } from './bluetooth.ts';
import { NEW_FIRMWARE } from './firmware-versions.ts';

/** The installed version of a package. */
export interface InstalledSoftware {
  /** The versionName in the file, which may differ from the distributed version. */
  readonly version: string;
  readonly versionCode: number;
  /** The bytes of storage that it needs. */
  readonly size: number;
}

/**
 * A list of networks that the device tries. The device has stored it with the former list, so that a restart in the
 * middle leads to an answer, too.
 */
export interface Trial {
  readonly transactionId: number;
  readonly issuedAt: string;
  /** Seconds in which the device has to reach the service with the new list. */
  readonly revertAfter: number;
  /** How often the device has restarted with the new list. */
  readonly restarts?: number;
  /** The part of the state that the device takes again otherwise. */
  readonly former: Partial<Pick<DeviceState, 'networks' | 'apns'>>;
}

/** The state of a device. Only operations, and peers that come and go, change it. */
export interface DeviceState {
  activation: { applicationId: string; clientId: string } | null;
  apns: readonly Record<string, unknown>[];
  networks: readonly Record<string, unknown>[];
  /** The installed software, by package name. */
  software: Readonly<Record<string, InstalledSoftware>>;
  firmwareVersion: string;
  managementClientVersion: string;
  /** BCP 47. */
  lang: string;
  bluetooth: Bluetooth;
  /** The networks that the device tries now; undefined when it has settled on its networks. */
  trial?: Trial | undefined;
}

/** The state of a device before its first command. */
export interface Equipment {
  /** Bytes for software and for downloads in progress. */
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
