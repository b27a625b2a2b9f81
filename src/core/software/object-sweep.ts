import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { binaryIdOf, objectKey } from './binary.ts';
import type { ListedObject, ObjectStore } from './object-store.ts';
import { forgetBinary, forgetOrphan, isReferred, listOrphans, rememberOrphan } from './orphan-repository.ts';
import type { Quotas } from './quotas.ts';

/** A day in microseconds, much longer than an upload URL is valid. */
const DAY_MICROS = 86_400_000_000;
/** Microseconds between two walks through all objects. */
const BETWEEN_MICROS = 6 * 3600 * 1_000_000;
/** Identifiers in the form of the service, so that foreign objects in the bucket are left alone. */
const OWN = /^bin_[0-9a-z]+$/;
/** Milliseconds of the event loop that one step takes. */
const STEP_MS = 1;
const OBJECTS_PER_STEP = 100;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  objects: Pick<ObjectStore, 'list' | 'remove'>;
  quotas: Pick<Quotas, 'seen'>;
}

type Pace = (workedMs: number) => Promise<boolean>;

/**
 * Removes objects that no version refers to. Such an object is left when the store failed while the version was
 * removed, or when a binary was uploaded afterwards through a URL that was still valid. Four times a day all objects
 * are listed, page by page. An object is removed when it was uploaded, and was found without a version, at least a day
 * ago: then nobody has a valid URL for it, and since identifiers are not reused, no version will refer to it. The sizes
 * of all other objects are counted for their developers. Returns the number of removed objects; undefined when it is
 * too early for another walk.
 */
export function createObjectSweep({ database, clock, log, objects, quotas }: Parts) {
  let nextAt = Number.NEGATIVE_INFINITY;

  async function examine(page: readonly ListedObject[], known: Map<string, number>): Promise<number> {
    const now = clock.now();
    const found: string[] = [];
    let removed = 0;
    for (const { key, size, uploadedAt } of page) {
      const binaryId = binaryIdOf(key);
      if (binaryId === undefined || !OWN.test(binaryId)) continue;
      await quotas.seen(binaryId, size);
      if (uploadedAt > now - DAY_MICROS) continue;
      const foundAt = known.get(binaryId);
      // If a version refers to the object after all, its record in `known` is deleted below.
      if (await isReferred(database.read, binaryId)) continue;
      known.delete(binaryId);
      if (foundAt === undefined) found.push(binaryId);
      else if (foundAt <= now - DAY_MICROS) {
        await objects.remove(objectKey(binaryId));
        await database.transact(
          async (unit) => {
            await forgetOrphan(unit, binaryId);
            await forgetBinary(unit, binaryId);
          },
          { pace: 'soon' },
        );
        log.info({ binaryId }, 'an object that no version refers to was removed');
        removed += 1;
      }
    }
    if (found.length > 0) {
      log.warn(
        { objects: found.length, first: found[0] },
        'objects that no version refers to will be removed in a day',
      );
      await database.transact(
        async (unit) => {
          for (const binaryId of found) await rememberOrphan(unit, { binaryId, foundAt: now });
        },
        { pace: 'soon' },
      );
    }
    return removed;
  }

  return async function sweep(pace: Pace): Promise<number | undefined> {
    if (clock.now() < nextAt) return undefined;
    const known = new Map((await listOrphans(database.read)).map(({ binaryId, foundAt }) => [binaryId, foundAt]));
    let removed = 0;
    for await (const page of objects.list(objectKey(''))) {
      for (let at = 0; at < page.length; at += OBJECTS_PER_STEP) {
        removed += await examine(page.slice(at, at + OBJECTS_PER_STEP), known);
        if (!(await pace(STEP_MS))) return removed;
      }
    }
    // The records that remain in `known` belong to objects that are gone, or that a version refers to after all.
    if (known.size > 0)
      await database.transact(
        async (unit) => {
          for (const binaryId of known.keys()) await forgetOrphan(unit, binaryId);
        },
        { pace: 'soon' },
      );
    nextAt = clock.now() + BETWEEN_MICROS;
    return removed;
  };
}
