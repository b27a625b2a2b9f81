import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder for files while they are downloaded. */
export interface DownloadFolder extends AsyncDisposable {
  /** The folder, made when it is first needed. */
  path(): Promise<string>;
}

/** A given folder stays. Without one, a temporary folder is made, and removed at the end. */
export function createDownloadFolder(given?: string): DownloadFolder {
  let made: Promise<string> | undefined;
  return {
    path() {
      made ??=
        given === undefined
          ? mkdtemp(join(tmpdir(), 'lapel-sim-'))
          : mkdir(given, { recursive: true }).then(() => given);
      return made;
    },
    async [Symbol.asyncDispose]() {
      const folder = given === undefined ? await made?.catch(() => undefined) : undefined;
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
