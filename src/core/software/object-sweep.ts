import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { binaryIdOf, objectKey } from './binary.ts';
import type { ListedObject, ObjectStore } from './object-store.ts';
import { forgetBinary, forgetOrphan, isReferred, listOrphans, rememberOrphan } from './orphan-repository.ts';
import type { Quotas } from './quotas.ts';

/** Microseconds: longer than an upload URL is valid, by far. */
const DAY = 86_400_000_000;
/** Microseconds between two walks through all objects. */
const BETWEEN = 6 * 3600 * 1_000_000;
/** Identifiers as the service makes them: what others keep in the bucket is none of its business. */
const OWN = /^bin_[0-9a-z]+$/;
/** Milliseconds of the event loop that the look at some objects takes. */
const LOOK = 1;
const OBJECTS_PER_LOOK = 100;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  objects: Pick<ObjectStore, 'list' | 'remove'>;
  quotas: Pick<Quotas, 'seen'>;
}

type Pace = (workedMs: number) => Promise<boolean>;

/**
 * Objects that no version refers to: the version went, and its binary came afterwards by a URL that was still valid, or
 * could not be removed with it. They are walked through in pages, four times a day. One is removed when it was uploaded and
 * found without a version a day ago or longer: by then nobody can have a URL for it, and no version will ever have its
 * identifier again. What is there is counted to its developer. Answers how many were removed; undefined when it was not time to walk.
 */
export function createObjectSweep({ database, clock, log, objects, quotas }: Parts) {
  let nextAt = Number.NEGATIVE_INFINITY;

  async function take(page: readonly ListedObject[], known: Map<string, number>): Promise<number> {
    const now = clock.now();
    const found: string[] = [];
    let removed = 0;
    for (const { key, size, uploadedAt } of page) {
      const binaryId = binaryIdOf(key);
      if (binaryId === undefined || !OWN.test(binaryId)) continue;
      await quotas.seen(binaryId, size);
      if (uploadedAt > now - DAY) continue;
      const foundAt = known.get(binaryId);
      if (await isReferred(database.read, binaryId)) continue; // stays among the known, if it was: that is forgotten
      known.delete(binaryId);
      if (foundAt === undefined) found.push(binaryId);
      else if (foundAt <= now - DAY) {
        await objects.remove(objectKey(binaryId));
        await database.transactSoon(async (unit) => {
          await forgetOrphan(unit, binaryId);
          await forgetBinary(unit, binaryId);
        });
        log.info({ binaryId }, 'an object that no version refers to was removed');
        removed += 1;
      }
    }
    if (found.length > 0) {
      log.warn(
        { objects: found.length, first: found[0] },
        'objects that no version refers to will be removed in a day',
      );
      await database.transactSoon(async (unit) => {
        for (const binaryId of found) await rememberOrphan(unit, { binaryId, foundAt: now });
      });
    }
    return removed;
  }

  return async function sweep(pace: Pace): Promise<number | undefined> {
    if (clock.now() < nextAt) return undefined;
    const known = new Map((await listOrphans(database.read)).map(({ binaryId, foundAt }) => [binaryId, foundAt]));
    let removed = 0;
    for await (const page of objects.list(objectKey(''))) {
      for (let at = 0; at < page.length; at += OBJECTS_PER_LOOK) {
        removed += await take(page.slice(at, at + OBJECTS_PER_LOOK), known);
        if (!(await pace(LOOK))) return removed;
      }
    }
    // What was not met again is gone, or has a version after all.
    if (known.size > 0)
      await database.transactSoon(async (unit) => {
        for (const binaryId of known.keys()) await forgetOrphan(unit, binaryId);
      });
    nextAt = clock.now() + BETWEEN;
    return removed;
  };
}
