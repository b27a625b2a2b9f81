import { open } from 'node:fs/promises';
import { type ApkIdentity, readManifest } from './android-manifest.ts';
import { readZipEntry } from './zip-entry.ts';

/** Upper bound of a manifest; those of real applications have some ten kilobytes. */
const LARGEST_MANIFEST = 8 * 1024 * 1024;

/** Reads the package name and the version from an APK file. Throws an Error that says why the file is not an APK. */
export async function readApk(file: string): Promise<ApkIdentity> {
  await using handle = await open(file);
  return readManifest(await readZipEntry(handle, 'AndroidManifest.xml', LARGEST_MANIFEST));
}
