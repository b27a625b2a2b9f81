import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, opendir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

export interface ObjectInfo {
  key: string;
  /** Bytes. */
  size: number;
  /** The ETag with its quotes, as in the header. */
  etag: string;
  contentType: string;
  /** Microseconds since the epoch. */
  uploadedAt: number;
}

/** An object being written. Readers do not see it until it is committed. */
export interface Draft {
  write(chunk: Uint8Array): Promise<void>;
  /**
   * Makes the draft the object of its key, atomically and durably. A reader that has the old object open goes on
   * reading it.
   */
  commit(info: ObjectInfo): Promise<void>;
  /** Removes the draft. Does nothing after a commit. */
  discard(): Promise<void>;
}

interface OpenObject {
  info: ObjectInfo;
  /** The open file, whose first `info.size` bytes are the object. The caller closes it. */
  handle: FileHandle;
}

export type ObjectFiles = ReturnType<typeof createObjectFiles>;

// A file is the object's bytes, then its description as JSON, then the description's length and this mark. It is one file,
// so that one rename replaces both the bytes and the description.
const MARK = Buffer.from('lapel-object');
/** The folder of the embedded store in the data folder: of objects, and of uploads that are not finished. */
export const STORE_FOLDER = 'objects';
/** The number of objects in one page of a listing. */
const LISTED = 100;
const FOOTER = 4 + MARK.length;
// A key has at most 1024 bytes, six times as many when JSON must escape all of them; the headers bound the content type.
const LONGEST_DESCRIPTION = 32 * 1024;
// Written data is synced to the disk in steps, so that no commit of the database waits behind gigabytes (measured: steps
// of 4 MiB halve the longest commits compared with steps of 16 MiB, and cost no speed).
const SYNC_EVERY = 4 * 1024 * 1024;

const OBJECTS = 'objects';
/** The folder of the objects in the data folder. */
export const OBJECTS_FOLDER = join(STORE_FOLDER, OBJECTS);

/** Objects in a folder. File names are hashes of the keys, so a key of any length and alphabet gives a safe name. */
export function createObjectFiles(folder: string) {
  const objects = join(folder, OBJECTS);
  const drafts = join(folder, 'drafts');
  for (const each of [objects, drafts]) mkdirSync(each, { recursive: true, mode: 0o700 });
  // These drafts remain from a crash. The data folder belongs to one process, so nobody is writing them.
  for (const name of readdirSync(drafts)) rmSync(join(drafts, name), { recursive: true });
  let draftCount = 0;

  const fileOf = (key: string): string => join(objects, createHash('sha256').update(key).digest('hex'));

  /** A rename or a removal is durable only when its folder is synced. */
  async function syncObjects(): Promise<void> {
    const handle = await open(objects, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  return {
    async create(): Promise<Draft> {
      draftCount += 1;
      const file = join(drafts, String(draftCount));
      const handle = await open(file, 'wx', 0o600);
      let unsynced = 0;
      let closed = false;
      let committed = false;

      async function write(chunk: Uint8Array): Promise<void> {
        for (let at = 0; at < chunk.length; ) {
          const { bytesWritten } = await handle.write(chunk, at, chunk.length - at);
          at += bytesWritten;
        }
        unsynced += chunk.length;
        if (unsynced < SYNC_EVERY) return;
        unsynced = 0;
        await handle.datasync();
      }
      async function close(): Promise<void> {
        if (closed) return;
        closed = true;
        await handle.close();
      }
      return {
        write,
        async commit(info) {
          const description = Buffer.from(JSON.stringify(info));
          const length = Buffer.alloc(4);
          length.writeUInt32LE(description.length);
          await write(Buffer.concat([description, length, MARK]));
          await handle.sync();
          await close();
          await rename(file, fileOf(info.key));
          committed = true;
          await syncObjects();
        },
        async discard() {
          if (committed) return;
          await close();
          await rm(file, { force: true });
        },
      };
    },

    /** Whether there is an object with this key. */
    has: (key: string): Promise<boolean> =>
      stat(fileOf(key)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return false;
          throw error;
        },
      ),

    async open(key: string): Promise<OpenObject | undefined> {
      let handle: FileHandle;
      try {
        handle = await open(fileOf(key), 'r');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
      try {
        return { info: await describe(handle), handle };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },

    /** Removes the object. Returns whether it existed. */
    async remove(key: string): Promise<boolean> {
      try {
        await rm(fileOf(key));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
        throw error;
      }
      await syncObjects();
      return true;
    },

    /** Yields all objects, in pages, in no order. An object that cannot be read is left out. */
    async *list(): AsyncGenerator<ObjectInfo[]> {
      let page: ObjectInfo[] = [];
      for await (const { name } of await opendir(objects)) {
        const info = await describeFile(join(objects, name)).catch(() => undefined);
        if (info) page.push(info);
        if (page.length < LISTED) continue;
        yield page;
        page = [];
      }
      yield page;
    },

    /** The bytes of all objects; the size of each file is read. */
    async stored(): Promise<number> {
      let bytes = 0;
      for await (const { name } of await opendir(objects)) {
        const found = await stat(join(objects, name)).catch(() => undefined); // the object may be removed meanwhile
        if (found?.isFile()) bytes += found.size;
      }
      return bytes;
    },

    /** Bytes that are free on the disk. */
    async free(): Promise<number> {
      const { bavail, bsize } = await statfs(objects);
      return bavail * bsize;
    },
  };
}

async function describeFile(file: string): Promise<ObjectInfo> {
  const handle = await open(file, 'r');
  try {
    return await describe(handle);
  } finally {
    await handle.close();
  }
}

async function describe(handle: FileHandle): Promise<ObjectInfo> {
  const { size } = await handle.stat();
  const tail = Buffer.alloc(Math.min(size, LONGEST_DESCRIPTION + FOOTER));
  const { bytesRead } = await handle.read(tail, 0, tail.length, size - tail.length);
  const footer = bytesRead - FOOTER;
  if (bytesRead !== tail.length || footer < 0 || !tail.subarray(footer + 4).equals(MARK)) throw damaged();
  const start = footer - tail.readUInt32LE(footer);
  if (start < 0) throw damaged();
  const info = JSON.parse(tail.toString('utf8', start, footer)) as ObjectInfo;
  if (info.size !== size - (tail.length - start)) throw damaged();
  return info;
}

const damaged = (): Error => new Error('the file of an object is damaged');
