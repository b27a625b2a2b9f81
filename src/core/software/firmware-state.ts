import { versionSortKey } from './version.ts';

export interface FirmwareState {
  /** The package that the version belongs to; null when none of the list has it. */
  package: string | null;
  /** As last reported; null when the device has not said. */
  version: string | null;
  /** Whether the list has a newer version of that package. */
  updatable: boolean;
}

/**
 * What a device runs, by op 29's list. A version that the list does not have can only be placed when there is just one
 * package of firmware.
 */
export function firmwareState(
  reported: string | null,
  list: readonly { package: string; version: string }[],
): FirmwareState {
  const packages = new Set(list.map((row) => row.package));
  const listed = list.find((row) => row.version === reported)?.package;
  const [only] = packages.size === 1 ? packages : [];
  const name = reported === null ? null : (listed ?? only ?? null);
  if (reported === null || name === null) return { package: name, version: reported, updatable: false };
  const key = versionSortKey(reported);
  const updatable = list.some((row) => row.package === name && versionSortKey(row.version) > key);
  return { package: name, version: reported, updatable };
}
