import { open } from 'node:fs/promises';
import { readApk as readFile } from '@lapel/schemas/apk/read-apk';

/** The identity of a package, which a device needs before it installs it. */
export interface ApkIdentity {
  readonly package: string;
  /** `versionName`. */
  readonly version: string;
  /** Android's long version code: `versionCodeMajor` is in its upper 32 bits. */
  readonly versionCode: number;
}

/** Reads the package name and the version from an APK file. Throws an Error that says why the file is not an APK. */
export async function readApk(file: string): Promise<ApkIdentity> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  const found = await readFile({
    size,
    async read(start, end) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start + 1), 0, end - start + 1, start);
      return buffer.subarray(0, bytesRead);
    },
  });
  if (found.versionName === null) throw new Error('the manifest has no versionName');
  return { package: found.package, version: found.versionName, versionCode: found.versionCode };
}
