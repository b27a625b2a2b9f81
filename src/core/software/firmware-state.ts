import { versionSortKey } from './version.ts';

export interface FirmwareState {
  /** The package of the reported version; null when it cannot be told from the list of firmware. */
  package: string | null;
  /** The last reported version; null when the device has not reported one. */
  version: string | null;
  /** Whether the list of firmware has a newer version of that package. */
  updatable: boolean;
}

/**
 * Compares the firmware that a device reported with the list of all firmware versions (op 29). If the list lacks the
 * reported version, its package is only known when the list has a single package.
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
