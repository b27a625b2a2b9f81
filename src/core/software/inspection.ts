import { ApkError } from '../../platform/apk/apk-error.ts';
import { createApkInspector } from '../../platform/apk/inspector.ts';
import type { ApkParts } from '../../platform/apk/read-apk.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { objectKey } from './binary.ts';
import { findEtag, listWarnings, saveContent } from './binary-content-repository.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import {
  type Certificates,
  findCertificates,
  findEarlierCertificates,
  pinDistributed,
  saveCertificates,
} from './signature-repository.ts';

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

// The number of files that are inspected at a time, each in a worker thread of its own, and the number of files that
// may wait. Further files are skipped; they are inspected when a caller asks for their version again.
const AT_A_TIME = 2;
const MOST_WAITING = 1000;
/** An inspection that fails, because store or database do not answer, is tried this often: over 17 minutes. */
const MOST_TRIES = 10;
const RETRY_MS = 1_000;

/** An inspection, and how often it was tried. */
interface Task {
  run(): Promise<void>;
  tries: number;
}

export type Inspection = ReturnType<typeof createInspection>;

/** The difference between the file and the registration, or null (specification, "Version"). */
function differenceOf(registered: Registered, { unread, ...found }: ApkParts): string | null {
  if (unread.manifest) return `the file cannot be read as an APK: ${unread.manifest.message}.`;
  if (found.package !== registered.package) return `the file is of the package ${found.package}.`;
  if (unread.versionName) return `the version name of the file could not be read: ${unread.versionName.message}.`;
  if (found.versionName !== registered.version)
    return `the file has the version name ${found.versionName ?? '(none)'}.`;
  return null;
}

/** The warnings of a file that Android refuses, or whose version code could not be read. */
function furtherOf({ unread, refusals }: ApkParts): string[] {
  const code = unread.versionCode;
  return [
    ...(code ? [`the version code of the file could not be read: ${code.message}.`] : []),
    ...refusals.map((refusal) => `Android refuses the file: ${refusal}.`),
  ];
}

/**
 * Inspects each upload of developers' software once, when it is first seen, with ranged reads. It only warns: a version whose
 * file differs is distributed nevertheless, and its devices report the error.
 */
export function createInspection({ database, clock, log, objects }: Parts) {
  const running = new Set<string>();
  const work = createWork();
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting = new Map<string, Task>();
  const inspectApk = createApkInspector({ clock });
  /** The inspections for which a delivery waits, one at a time. */
  const soon = new Map<string, Promise<void>>();
  let lastSoon: Promise<unknown> = Promise.resolve();

  /** Warns of an APK that devices with the version before cannot accept, since Android wants the same certificate. */
  async function otherCertificate(registered: Registered, { certificates, unread }: ApkParts): Promise<string | null> {
    if (certificates === null)
      return `the certificates of the file could not be read: ${unread.certificates?.message}.`;
    const earlier = await findEarlierCertificates(database.read, registered, 'all');
    if (!earlier || earlier.certificates.join(' ') === certificates.join(' ')) return null;
    return certificates.length === 0
      ? `no certificate of the APK Signature Schemes v2 and v3 was found in the file, unlike in version ${earlier.version}.`
      : `the file has another certificate than version ${earlier.version}.`;
  }

  async function inspect(registered: Registered, { etag, size }: StoredObject): Promise<void> {
    const { binaryId, package: name, version } = registered;
    if ((await findEtag(database.read, binaryId)) === etag && (await findCertificates(database.read, binaryId, etag)))
      return;
    const key = objectKey(binaryId);
    let found: ApkParts | null = null;
    let warning: string | null;
    try {
      const read = (start: number, end: number): Promise<Buffer> => objects.read(key, start, end, { signal });
      found = await inspectApk({ size, read }, signal);
      const warnings = [
        differenceOf(registered, found),
        await otherCertificate(registered, found),
        ...furtherOf(found),
      ];
      warning = warnings.filter((each) => each !== null).join(' ') || null;
    } catch (thrown) {
      // An error of the store says nothing about the file, which is inspected when it is seen again.
      if (!(thrown instanceof ApkError)) throw thrown;
      warning = `the file cannot be read as an APK: ${thrown.message}`;
    }
    if (warning !== null)
      log.warn(
        { package: name, version, warning },
        'an uploaded binary differs from its registration, or cannot be read as an APK',
      );
    await database.transact(
      async (unit) => {
        await saveCertificates(unit, { binaryId, etag, certificates: found?.certificates ?? 'unread' });
        await pinDistributed(unit, binaryId);
        await saveContent(unit, {
          binaryId,
          package: name,
          version,
          etag,
          foundPackage: found?.package ?? null,
          foundVersionName: found?.versionName ?? null,
          foundVersionCode: found?.versionCode ?? null,
          warning,
          readAt: clock.now(),
        });
      },
      { pace: 'soon' },
    );
  }

  /** Inspects a binary now, or after the inspections that are in work. Rejects when there are too many of them. */
  async function inspectSoon(registered: Registered, stored: StoredObject): Promise<void> {
    const { binaryId } = registered;
    const known = soon.get(binaryId);
    if (known) return known;
    if (soon.size >= MOST_WAITING) throw new Error('too many files wait for their inspection');
    work.begun();
    const task = lastSoon
      .then(() => signal.throwIfAborted())
      .then(() => inspect(registered, stored))
      .finally(() => {
        soon.delete(binaryId);
        work.ended();
      });
    lastSoon = task.catch(() => undefined);
    soon.set(binaryId, task);
    return task;
  }

  /** Starts an inspection, or puts it into the queue; does not wait for it. */
  function enqueue({ binaryId }: Registered, task: () => Promise<void>): void {
    put(binaryId, { run: task, tries: 0 });
  }

  function put(binaryId: string, task: Task): void {
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
    task
      .run()
      .catch((err: unknown) => {
        if (signal.aborted) return;
        const tries = task.tries + 1;
        log.error({ err, binaryId, tries }, 'an uploaded binary could not be inspected');
        // Nobody may look at the file for long, so the inspection is tried again, without being asked.
        if (tries < MOST_TRIES) clock.after(RETRY_MS * 2 ** tries, () => put(binaryId, { ...task, tries }));
      })
      .finally(() => {
        running.delete(binaryId);
        startNext();
        work.ended();
      });
  }

  return {
    /**
     * Inspects a binary that the object store has (ops 20 and 28 have asked for it), without waiting for the result.
     */
    seen: (registered: Registered, stored: StoredObject): void =>
      enqueue(registered, () => inspect(registered, stored)),

    /**
     * The certificates in a stored binary, or `unread`; undefined when it was not inspected yet, which begins then. With `waits` it is
     * inspected first; rejects when the store does not answer, or the binary was replaced meanwhile.
     */
    async certificates(
      registered: Registered,
      stored: StoredObject,
      { waits }: { waits: boolean },
    ): Promise<Certificates | undefined> {
      const find = () => findCertificates(database.read, registered.binaryId, stored.etag);
      const known = await find();
      if (known) return known;
      if (!waits) {
        enqueue(registered, () => inspect(registered, stored));
        return undefined;
      }
      await inspectSoon(registered, stored);
      const found = await find();
      if (!found) throw new Error('the binary was replaced while it was read');
      return found;
    },

    /** Asks the object store whether there is a binary, and inspects it (for op 26, which works without a binary). */
    look: (registered: Registered): void =>
      enqueue(registered, async () => {
        const stored = await objects.head(objectKey(registered.binaryId), { signal });
        if (stored) await inspect(registered, stored);
      }),

    /** A page of the binaries that differ from their registration or cannot be read as an APK; of one developer, or of all. */
    warnings: (page: { offset: number; limit: number; developerId?: string }) => listWarnings(database.read, page),

    /** Resolves when no file is being inspected. */
    idle: work.idle,

    /** Stops inspections; the files are inspected when they are seen again. */
    async [Symbol.asyncDispose](): Promise<void> {
      waiting.clear();
      stopping.abort();
      await work.idle();
    },
  };
}
