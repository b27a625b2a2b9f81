import { ApkError } from '@lapel/schemas/apk/apk-error';
import type { ApkParts } from '@lapel/schemas/apk/read-apk';
import type { Metrics } from '../../metrics.ts';
import { createApkInspector } from '../../platform/apk/inspector.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import { objectKey } from './binary.ts';
import { deletePutOff, findEtag, listWarnings, saveContent } from './binary-content-repository.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { createPutOffInspections, type Why } from './put-off-inspections.ts';
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
  metrics: Pick<Metrics, 'inspectionsPutOff' | 'overlooked'>;
}

// The number of files that are inspected at a time, each in a worker thread of its own, and the number of files that
// may wait in memory. Further files wait in the database.
const AT_A_TIME = 2;
const MOST_WAITING = 1000;
/** An inspection that fails, because store or database do not answer, is tried this often: over 17 minutes. */
const MOST_TRIES = 10;
const RETRY_MS = 1_000;
/** Milliseconds after which an inspection that was put off is taken up again, by the reason. */
const AGAIN_MS: Readonly<Record<Why, number>> = { full: 60_000, failed: 15 * 60_000, stopped: 0 };

/** An inspection, and how often it was tried. */
interface Task {
  /** The ETag of the file; null when the store was not asked for it yet. */
  etag: string | null;
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
export function createInspection({ database, clock, log, objects, metrics }: Parts) {
  const running = new Map<string, Task>();
  /** The inspections that wait for their next try, each with the function that cancels it. */
  const retries = new Map<string, { task: Task; cancel(): void }>();
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

  const room = (): number => (signal.aborted ? 0 : Math.max(0, MOST_WAITING - waiting.size));

  /** Asks the object store whether there is a binary, and inspects it. */
  async function lookAt(registered: Registered): Promise<void> {
    const { binaryId } = registered;
    const stored = await objects.head(objectKey(binaryId), { signal });
    if (stored) await inspect(registered, stored);
    else await database.transact((unit) => deletePutOff(unit, binaryId), { pace: 'soon' });
  }

  const putOff = createPutOffInspections({
    database,
    clock,
    log,
    metrics,
    work,
    room,
    isHere: (binaryId) => waiting.has(binaryId) || running.has(binaryId) || retries.has(binaryId),
    take: (row) => put(row.binaryId, { etag: null, run: () => lookAt(row), tries: 0 }),
  });

  function putAside(binaryId: string, { etag }: Task, why: Why): Promise<void> {
    return putOff.put({ binaryId, etag }, { why, afterMs: AGAIN_MS[why] }).catch((err: unknown) => {
      log.error({ err, binaryId, why }, 'an inspection was put off, and this could not be stored');
    });
  }

  /** Starts an inspection, or puts it into the queue; does not wait for it. */
  function enqueue({ binaryId }: Registered, etag: string | null, run: () => Promise<void>): void {
    put(binaryId, { etag, run, tries: 0 });
  }

  function put(binaryId: string, task: Task): void {
    if (signal.aborted) return;
    retries.get(binaryId)?.cancel();
    retries.delete(binaryId);
    if (!waiting.has(binaryId) && room() === 0) {
      void putAside(binaryId, task, 'full');
      return;
    }
    waiting.set(binaryId, task);
    startNext();
  }

  function startNext(): void {
    if (running.size >= AT_A_TIME) return;
    // A file that is uploaded again while it is inspected waits for the end of its inspection.
    for (const [binaryId, task] of waiting) {
      if (running.has(binaryId)) continue;
      begin(binaryId, task);
      return;
    }
  }

  function begin(binaryId: string, task: Task): void {
    waiting.delete(binaryId);
    running.set(binaryId, task);
    work.begun();
    task
      .run()
      .catch((err: unknown) => failed(binaryId, task, err))
      .finally(() => {
        running.delete(binaryId);
        startNext();
        work.ended();
      });
  }

  /** Nobody may look at the file for long, so its inspection is tried again without being asked. */
  async function failed(binaryId: string, task: Task, err: unknown): Promise<void> {
    if (signal.aborted) return;
    const tries = task.tries + 1;
    log[levelOf(err)]({ err, binaryId, tries }, 'an uploaded binary could not be inspected');
    if (tries >= MOST_TRIES) return putAside(binaryId, task, 'failed');
    const cancel = clock.after(RETRY_MS * 2 ** tries, () => put(binaryId, { ...task, tries }));
    retries.set(binaryId, { task, cancel });
    // The database may be what fails; a later try stores it then.
    await putOff.claim(binaryId, task.etag).catch(() => undefined);
  }

  return {
    /**
     * Inspects a binary that the object store has (ops 20 and 28 have asked for it), without waiting for the result.
     */
    seen: (registered: Registered, stored: StoredObject): void =>
      enqueue(registered, stored.etag, () => inspect(registered, stored)),

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
        enqueue(registered, stored.etag, () => inspect(registered, stored));
        return undefined;
      }
      await inspectSoon(registered, stored);
      const found = await find();
      if (!found) throw new Error('the binary was replaced while it was read');
      return found;
    },

    /** Asks the object store whether there is a binary, and inspects it (for op 26, which works without a binary). */
    look: (registered: Registered): void => enqueue(registered, null, () => lookAt(registered)),

    /** A page of the binaries that differ from their registration or cannot be read as an APK; of one developer, or of all. */
    warnings: (page: { offset: number; limit: number; developerId?: string }) => listWarnings(database.read, page),

    /** Resolves when no file is being inspected. */
    idle: work.idle,

    /** Stops inspections. Those that are not done are stored, and taken up after the next start. */
    async [Symbol.asyncDispose](): Promise<void> {
      putOff.stop();
      stopping.abort();
      for (const { cancel } of retries.values()) cancel();
      const left = new Map([...running, ...waiting, ...[...retries].map(([id, { task }]) => [id, task] as const)]);
      waiting.clear();
      await Promise.all([...left].map(([binaryId, task]) => putAside(binaryId, task, 'stopped')));
      await work.idle();
    },
  };
}
