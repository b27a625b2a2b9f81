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
 * The SHA-256 of binaries, with which devices check their downloads. The embedded store knows it. For any other store the
 * binary is read once after each upload: one binary at a time, chunk by chunk, so that other work does not wait.
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
    await database.transact((unit) => saveDigest(unit, { binaryId, etag, sha256 }), { pace: 'soon' });
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

  /** Starts a computation without waiting for it. If it fails, it is started again when the digest is needed next. */
  function inBackground(made: Promise<unknown>, binaryId: string): void {
    made.catch((err: unknown) => {
      if (!signal.aborted) log.warn({ err, binaryId }, 'the digest of a binary could not be computed');
    });
  }

  return {
    /**
     * The digest of the stored binary, computed now if it is missing. Rejects when the store does not answer, or the binary
     * was replaced.
     */
    of: async (binaryId: string, stored: StoredObject): Promise<string> =>
      (await find(binaryId, stored)) ?? begin(binaryId, stored),

    /** The digest of the stored binary, if it is known; otherwise its computation starts. */
    async known(binaryId: string, stored: StoredObject): Promise<string | undefined> {
      const found = await find(binaryId, stored);
      if (found === undefined) inBackground(begin(binaryId, stored), binaryId);
      return found;
    },

    /** Starts the computation of a missing digest, so that it is known when it is needed. Does not wait for it. */
    seen(binaryId: string, stored: StoredObject): void {
      if (stored.sha256 !== undefined) return;
      inBackground(
        find(binaryId, stored).then((found) => found ?? begin(binaryId, stored)),
        binaryId,
      );
    },

    /** Resolves when no digest is being computed. */
    idle: work.idle,

    /** Stops computations; they start again when the digests are needed next. */
    async [Symbol.asyncDispose](): Promise<void> {
      stopping.abort();
      await work.idle();
    },
  };
}
