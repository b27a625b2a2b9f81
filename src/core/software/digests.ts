import { createHash } from 'node:crypto';
import type { Database } from '../../platform/database/sql.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { objectKey } from './binary.ts';
import { findDigest, saveDigest } from './binary-digest-repository.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

interface Parts {
  database: Database;
  log: Log;
  objects: Pick<ObjectStore, 'stream'>;
}

export type Digests = ReturnType<typeof createDigests>;

/**
 * SHA-256 of binaries, for devices to check their downloads by. The embedded store knows it; of a binary in any other
 * store it is made by reading it, once for each upload, one binary at a time and a chunk at a time, so that nothing else
 * waits for it.
 */
export function createDigests({ database, log, objects }: Parts) {
  const running = new Map<string, Promise<string>>();
  let last: Promise<unknown> = Promise.resolve();
  const work = createWork();
  const stopping = new AbortController();
  const { signal } = stopping;

  async function make(binaryId: string, { etag }: StoredObject): Promise<string> {
    signal.throwIfAborted();
    const hash = createHash('sha256');
    for await (const chunk of objects.stream(objectKey(binaryId), { etag, signal })) hash.update(chunk);
    const sha256 = hash.digest('hex');
    await database.transactSoon((unit) => saveDigest(unit, { binaryId, etag, sha256 }));
    return sha256;
  }

  function begin(binaryId: string, stored: StoredObject): Promise<string> {
    const key = `${binaryId} ${stored.etag}`;
    const known = running.get(key);
    if (known) return known;
    work.begun();
    const made = last
      .then(() => make(binaryId, stored))
      .finally(() => {
        running.delete(key);
        work.ended();
      });
    last = made.catch(() => undefined);
    running.set(key, made);
    return made;
  }

  const find = async (binaryId: string, stored: StoredObject): Promise<string | undefined> =>
    stored.sha256 ?? (await findDigest(database.read, binaryId, stored.etag));

  /** Nobody waits for it; it is begun anew when it is wanted the next time. */
  function inBackground(made: Promise<unknown>, binaryId: string): void {
    made.catch((err: unknown) => {
      if (!signal.aborted) log.warn({ err, binaryId }, 'the digest of a binary could not be made');
    });
  }

  return {
    /** The digest of what is stored, made now if need be. Rejects when the object store does not answer, or has another by then. */
    of: async (binaryId: string, stored: StoredObject): Promise<string> =>
      (await find(binaryId, stored)) ?? begin(binaryId, stored),

    /** The digest of what is stored, if it is there by now; else it is begun. */
    async known(binaryId: string, stored: StoredObject): Promise<string | undefined> {
      const found = await find(binaryId, stored);
      if (found === undefined) inBackground(begin(binaryId, stored), binaryId);
      return found;
    },

    /** Sees to it that the digest of what was found is there when it is wanted. Nobody waits for it. */
    seen(binaryId: string, stored: StoredObject): void {
      if (stored.sha256 !== undefined) return;
      inBackground(
        find(binaryId, stored).then((found) => found ?? begin(binaryId, stored)),
        binaryId,
      );
    },

    /** Resolves when none is being made. */
    idle: work.idle,

    /** What is being read is left; it is begun anew when it is wanted the next time. */
    async [Symbol.asyncDispose](): Promise<void> {
      stopping.abort();
      await work.idle();
    },
  };
}
