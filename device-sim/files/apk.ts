import { open } from 'node:fs/promises';
import { type ApkIdentity, readManifest } from './android-manifest.ts';
import { readZipEntry } from './zip-entry.ts';

/** Manifests of real applications have some ten kilobytes. */
const LARGEST_MANIFEST = 8 * 1024 * 1024;

/** What an APK file says that it is. Throws an Error in words when it is none. */
export async function readApk(file: string): Promise<ApkIdentity> {
  await using handle = await open(file);
  return readManifest(await readZipEntry(handle, 'AndroidManifest.xml', LARGEST_MANIFEST));
}
