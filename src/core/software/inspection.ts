import { ApkError } from '../../platform/apk/apk-error.ts';
import { createApkInspector } from '../../platform/apk/inspector.ts';
import type { ApkManifest } from '../../platform/apk/manifest.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { objectKey } from './binary.ts';
import { findEtag, listWarnings, saveContent } from './binary-content-repository.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

interface Registered {
  package: string;
  version: string;
  binaryId: string;
}

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  objects: Pick<ObjectStore, 'head' | 'read'>;
}

// Files that are read at a time, each in a worker of its own, and files that wait for it. More are left for the next time
// that somebody asks for them.
const AT_A_TIME = 2;
const MOST_WAITING = 1000;

export type Inspection = ReturnType<typeof createInspection>;

/** How the file differs from what was registered, or null (specification, "Version"). */
function warningOf(registered: Registered, found: ApkManifest): string | null {
  if (found.package !== registered.package) return `the file is of the package ${found.package}.`;
  if (found.versionName !== registered.version)
    return `the file has the version name ${found.versionName ?? '(none)'}.`;
  return null;
}

/**
 * Looks once into each upload of developers' software, when it is first seen present, with ranged reads. It only warns:
 * a version whose file says otherwise is distributed all the same, and its devices report the error.
 */
export function createInspection({ database, clock, log, objects }: Parts) {
  const running = new Set<string>();
  const work = createWork();
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting = new Map<string, () => Promise<void>>();
  const inspectApk = createApkInspector({ clock });

  async function inspect(registered: Registered, { etag, size }: StoredObject): Promise<void> {
    const { binaryId, package: name, version } = registered;
    if ((await findEtag(database.read, binaryId)) === etag) return;
    const key = objectKey(binaryId);
    let found: ApkManifest | null = null;
    let warning: string | null;
    try {
      const read = (start: number, end: number): Promise<Buffer> => objects.read(key, start, end, { signal });
      found = await inspectApk({ size, read }, signal);
      warning = warningOf(registered, found);
    } catch (thrown) {
      // A store that does not answer is no fault of the file: it is looked at again when it is next seen.
      if (!(thrown instanceof ApkError)) throw thrown;
      warning = `the file cannot be read as an APK: ${thrown.message}`;
    }
    if (warning !== null)
      log.warn({ package: name, version, warning }, 'an uploaded binary differs from what was registered');
    await database.transactSoon((unit) =>
      saveContent(unit, {
        binaryId,
        package: name,
        version,
        etag,
        foundPackage: found?.package ?? null,
        foundVersionName: found?.versionName ?? null,
        foundVersionCode: found?.versionCode ?? null,
        warning,
        readAt: clock.now(),
      }),
    );
  }

  /** Nobody waits for it. */
  function begin({ binaryId }: Registered, task: () => Promise<void>): void {
    if (signal.aborted || running.has(binaryId) || waiting.size >= MOST_WAITING) return;
    waiting.set(binaryId, task);
    startNext();
  }

  function startNext(): void {
    const [next] = waiting;
    if (!next || running.size >= AT_A_TIME) return;
    const [binaryId, task] = next;
    waiting.delete(binaryId);
    running.add(binaryId);
    work.begun();
    task()
      .catch((err: unknown) => {
        if (!signal.aborted) log.error({ err, binaryId }, 'an uploaded binary could not be looked into');
      })
      .finally(() => {
        running.delete(binaryId);
        startNext();
        work.ended();
      });
  }

  return {
    /** A HEAD found the binary (ops 20 and 28). */
    seen: (registered: Registered, stored: StoredObject): void => begin(registered, () => inspect(registered, stored)),

    /** Asks for the binary first (op 26, which needs none to be there). */
    look: (registered: Registered): void =>
      begin(registered, async () => {
        const stored = await objects.head(objectKey(registered.binaryId), { signal });
        if (stored) await inspect(registered, stored);
      }),

    /** The binaries that differ from what was registered (administration). */
    warnings: (page: { offset: number; limit: number }) => listWarnings(database.read, page),

    /** Resolves when no file is being read. */
    idle: work.idle,

    /** What is being read is left: it is looked at again when it is next seen. */
    async [Symbol.asyncDispose](): Promise<void> {
      waiting.clear();
      stopping.abort();
      await work.idle();
    },
  };
}
