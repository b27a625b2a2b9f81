import type { DownloadedFile } from '../files/fetcher.ts';
import type { Failure } from '../mqtt/messages.ts';
import type { DeviceState } from './device-state.ts';

/** The result of an operation on a device, or its failure. Even a failed operation may have changed the device. */
export type Outcome = { readonly result: Readonly<Record<string, unknown>> } | { readonly error: Failure };

export function freeStorage({ software }: Readonly<DeviceState>, total: number): number {
  let used = 0;
  for (const { size } of Object.values(software)) used += size;
  return Math.max(0, total - used);
}

/**
 * Installs a downloaded package on the device (op 28). A package with another name than ordered, or with a version code that is not higher, is not
 * installed. A package with another versionName than ordered is installed, and reported as failed.
 */
export function install(
  state: DeviceState,
  ordered: { readonly package: string; readonly version: string },
  { size, apk }: DownloadedFile,
): Outcome {
  const fail = (code: string, message: string): Outcome => ({ error: { code, message } });
  if (!apk) return fail('INTERNAL', 'the downloaded file was not read');
  if (apk.package !== ordered.package) {
    return fail('PACKAGE_NAME_MISMATCH', `the file is ${apk.package}, not ${ordered.package}; not installed`);
  }
  const before = Object.hasOwn(state.software, apk.package) ? state.software[apk.package] : undefined;
  if (before && apk.versionCode <= before.versionCode) {
    const codes = `${apk.versionCode} is not higher than ${before.versionCode}`;
    return fail('VERSION_CODE_NOT_HIGHER', `version code ${codes}, the installed one; not installed`);
  }
  const installed = { version: apk.version, versionCode: apk.versionCode, size };
  state.software = { ...state.software, [apk.package]: installed };
  return apk.version === ordered.version
    ? { result: { package: apk.package, version: apk.version, versionCode: apk.versionCode } }
    : fail('VERSION_NAME_MISMATCH', `installed, but the file is version ${apk.version}, not ${ordered.version}`);
}
