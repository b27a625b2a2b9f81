import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Disk } from './disk.ts';
import { lockFile } from './lock-file.ts';

function writeAll(handle: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(handle, bytes, written);
}

/** The names of a folder are on the disk as well. */
function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * A real file, for one process: another one that opens it gets an error. A new file whose power was cut before it could
 * take the place of this one is removed.
 */
export class FileDisk implements Disk {
  readonly #path: string;
  readonly #unlock: () => void;
  #openHandle: number | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#unlock = lockFile(`${path}.lock`);
    try {
      rmSync(`${path}.new`, { force: true });
      const isNew = !existsSync(path);
      this.#openHandle = openSync(path, 'a+', 0o600);
      if (isNew) syncFolder(path);
    } catch (error) {
      this.#unlock();
      throw error;
    }
  }

  read(): Uint8Array {
    return readFileSync(this.#path);
  }

  append(bytes: Uint8Array): void {
    writeAll(this.#handle, bytes);
  }

  sync(): void {
    fsyncSync(this.#handle);
  }

  truncate(size: number): void {
    ftruncateSync(this.#handle, size);
    fsyncSync(this.#handle);
  }

  replace(bytes: Uint8Array): void {
    const former = this.#handle;
    const fresh = openSync(`${this.#path}.new`, 'ax+', 0o600);
    try {
      writeAll(fresh, bytes);
      fsyncSync(fresh);
      renameSync(`${this.#path}.new`, this.#path);
    } catch (error) {
      closeSync(fresh);
      rmSync(`${this.#path}.new`, { force: true });
      throw error;
    }
    closeSync(former); // from here on, the path is the new file
    this.#openHandle = fresh;
    syncFolder(this.#path);
  }

  /** Afterwards the path, and the number of the handle, may be those of another device. */
  get #handle(): number {
    if (this.#openHandle === undefined) throw new Error('the device was stopped.');
    return this.#openHandle;
  }

  close(): void {
    closeSync(this.#handle);
    this.#openHandle = undefined;
    this.#unlock();
  }
}
