import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { ApkError } from '@lapel/schemas/apk/apk-error';
import type { ApkManifest } from '@lapel/schemas/apk/manifest';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';

/**
 * An open file. It is read through one handle, so that the checked and the uploaded bytes are the same, even when the
 * name is given to another file meanwhile.
 */
export interface LocalFile extends AsyncDisposable {
  name: string;
  /** The size of the file in bytes. */
  size: number;
  handle: FileHandle;
}

/** Opens a file that the command line names. Throws a UsageError. */
export async function openLocalFile(path: string): Promise<LocalFile> {
  let handle: FileHandle;
  try {
    handle = await open(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(path, code === 'ENOENT' ? 'there is no such file' : message);
  }
  const stats = await handle.stat();
  if (!stats.isFile()) {
    await handle.close();
    throw new UsageError(path, 'is not a file');
  }
  return { name: basename(path), size: stats.size, handle, [Symbol.asyncDispose]: () => handle.close() };
}

/** Reads the manifest of an APK file; null when the file is not an APK file. */
export async function identify({ size, handle }: LocalFile): Promise<ApkManifest | null> {
  const { readApk } = await import('@lapel/schemas/apk/read-apk'); // few commands have an APK file
  try {
    return await readApk({
      size,
      async read(start, end) {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start + 1), 0, end - start + 1, start);
        return buffer.subarray(0, bytesRead);
      },
    });
  } catch (error) {
    if (!(error instanceof ApkError)) throw error;
    if (error.reason === 'not_an_archive' || error.reason === 'manifest_missing') return null;
    throw new Failure(`cannot read the APK file: ${error.message}`, { cause: error });
  }
}
