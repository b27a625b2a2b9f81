import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The bytes of a download that are on the disk for certain, and the tag of the file that they are of. */
export interface Position {
  bytes: number;
  /** A strong ETag; undefined if the server gave none. */
  tag?: string | undefined;
}

/** So many bytes at most are lost by a power cut. */
const SYNC_EVERY = 1024 * 1024;

async function hashOf(path: string, end?: number): Promise<{ hash: Hash; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  if (end === 0) return { hash, bytes };
  for await (const chunk of createReadStream(path, end === undefined ? {} : { end: end - 1 })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { hash, bytes };
}

/** Whether a file is there with these bytes. */
export async function isThere(path: string, size: number, sha256: string): Promise<boolean> {
  if (!existsSync(path) || (await stat(path)).size !== size) return false;
  return (await hashOf(path)).hash.digest('hex') === sha256;
}

/**
 * The part of a file that has been downloaded, beside the file. After a power cut it goes on behind the bytes that were
 * synced: behind them the file may have anything.
 */
export class PartFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #store: (position: Position) => void;
  #hash: Hash;
  #bytes: number;
  #synced: number;
  #tag: string | undefined;

  private constructor(
    path: string,
    handle: FileHandle,
    store: (position: Position) => void,
    { hash, bytes, tag }: { hash: Hash; bytes: number; tag: string | undefined },
  ) {
    [this.#path, this.#handle, this.#store] = [path, handle, store];
    [this.#hash, this.#bytes, this.#synced, this.#tag] = [hash, bytes, bytes, tag];
  }

  /** Throws when the disk fails. */
  static async open(path: string, { bytes, tag }: Position, store: (position: Position) => void): Promise<PartFile> {
    const part = `${path}.part`;
    const handle = await open(part, 'a+', 0o600);
    try {
      const { size } = await handle.stat();
      const kept = size < bytes ? 0 : bytes;
      await handle.truncate(kept);
      const { hash } = await hashOf(part, kept);
      return new PartFile(path, handle, store, { hash, bytes: kept, tag });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Undefined: nothing says that the server has the same file still. */
  get tag(): string | undefined {
    return this.#tag;
  }

  /** Begins anew, with the file that has this tag. */
  async clear(tag: string | undefined): Promise<void> {
    await this.#handle.truncate(0);
    this.#hash = createHash('sha256');
    [this.#bytes, this.#synced, this.#tag] = [0, 0, tag];
  }

  async append(chunk: Uint8Array): Promise<void> {
    await this.#handle.appendFile(chunk);
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes - this.#synced < SYNC_EVERY) return;
    await this.#handle.sync();
    this.#synced = this.#bytes;
    this.#store({ bytes: this.#bytes, tag: this.#tag });
  }

  hasHash(sha256: string): boolean {
    return this.#hash.copy().digest('hex') === sha256;
  }

  /** The part becomes the file, on the disk when it returns. */
  async finish(): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    await rename(`${this.#path}.part`, this.#path);
    await using folder = await open(dirname(this.#path), 'r');
    await folder.sync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async remove(): Promise<void> {
    await this.#handle.close();
    await rm(`${this.#path}.part`, { force: true });
  }
}
