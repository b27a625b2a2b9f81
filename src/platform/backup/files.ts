import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, open, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { OBJECTS_FOLDER } from '../objects/object-files.ts';

/** Makes sure that a file or the entries of a folder are on the disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Copies a file that must not exist yet; only its owner can read the copy. File systems that can share the bytes do so. */
export async function copy(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
  await sync(to);
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

export interface Objects {
  count: number;
  bytes: number;
}

/**
 * Copies the objects of the embedded store, one after another. An object never changes: a new one replaces it. One that is
 * removed meanwhile is left out.
 */
export async function copyObjects(from: string, to: string): Promise<Objects> {
  const copied = { count: 0, bytes: 0 };
  await mkdir(join(to, OBJECTS_FOLDER), { recursive: true, mode: 0o700 });
  for await (const { name } of await opendir(join(from, OBJECTS_FOLDER)).catch(ignoreMissing(() => []))) {
    const target = join(to, OBJECTS_FOLDER, name);
    const found = await copy(join(from, OBJECTS_FOLDER, name), target).then(
      () => true,
      ignoreMissing(() => false),
    );
    if (!found) continue;
    copied.count += 1;
    copied.bytes += (await stat(target)).size;
  }
  await sync(join(to, OBJECTS_FOLDER));
  return copied;
}

/** Counts the objects of a folder. */
export async function countObjects(folder: string): Promise<Objects> {
  const found = { count: 0, bytes: 0 };
  for await (const { name } of await opendir(join(folder, OBJECTS_FOLDER)).catch(ignoreMissing(() => []))) {
    found.count += 1;
    found.bytes += (await stat(join(folder, OBJECTS_FOLDER, name))).size;
  }
  return found;
}

/** Handles an error by another value if a file or folder does not exist; throws any other error. */
export const ignoreMissing =
  <Value>(instead: () => Value) =>
  (error: NodeJS.ErrnoException): Value => {
    if (error.code === 'ENOENT') return instead();
    throw error;
  };
