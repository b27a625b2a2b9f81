/** What is installed under one package name. */
export interface InstalledSoftware {
  /** The versionName that the package says it has, whatever name it was distributed under. */
  readonly version: string;
  readonly versionCode: number;
  /** Bytes of storage that it takes. */
  readonly size: number;
}

/** What a device keeps. Only operations change it. */
export interface DeviceState {
  activation: { applicationId: string; clientId: string } | null;
  apns: readonly Record<string, unknown>[];
  networks: readonly Record<string, unknown>[];
  /** By package name. */
  software: Readonly<Record<string, InstalledSoftware>>;
  firmwareVersion: string;
}

/** What a device is before its first command. */
export interface Equipment {
  /** Bytes, for software and for what is being downloaded. */
  readonly storage: number;
  readonly firmwareVersion: string;
  readonly software: Readonly<Record<string, InstalledSoftware>>;
}

/** The first firmware that knows every operation of the specification, on 8 GiB. */
export const plainEquipment: Equipment = { storage: 8 * 1024 ** 3, firmwareVersion: '9.001.0', software: {} };
