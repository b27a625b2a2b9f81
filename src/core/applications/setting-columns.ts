import { DEPRECATED_URL_SETTINGS, URL_SETTINGS } from '@lapel/schemas/contracts/values';

/** The URLs that an application can set (specification, "Application settings"), deprecated ones included. */
export type SettingName = keyof typeof URL_SETTINGS | (typeof DEPRECATED_URL_SETTINGS)[number];
export type Settings = Record<SettingName, string | null>;

export const SETTING_NAMES: readonly SettingName[] = [
  ...(Object.keys(URL_SETTINGS) as (keyof typeof URL_SETTINGS)[]),
  ...DEPRECATED_URL_SETTINGS,
];

/** The database column that holds a setting; for example, `device_event` holds `deviceEvent`. */
export const columnOf = (name: SettingName): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
