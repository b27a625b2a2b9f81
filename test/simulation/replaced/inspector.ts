import type { ApkSource } from '@lapel/schemas/apk/bounded-source';
import { type ApkParts, readApkParts } from '@lapel/schemas/apk/read-apk';

/** Reads APK files on this thread. */
export function createApkInspector() {
  return (source: ApkSource): Promise<ApkParts> => readApkParts(source);
}
