import { closeSync, openSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { Worker } from 'node:worker_threads';
import { MODULE_ENDING } from '../../../runtime/installation.ts';
import { ASKED, DONE, ERRNO, errnoOfSync, type ForSync, PLACES, RUNS } from './log-sync-memory.ts';

/**
 * Milliseconds for which the event loop waits for the disk. Most disks take less. All callers of the commit then go on at
 * once and together, so that their next commit is one again. The units of a commit may take as long.
 */
const MOST_MS = 4;
/** Milliseconds without an answer after which a disk counts as one that hangs. */
const HANGS_MS = 2_000;
/** Commits after which the thread starts, because a process that makes few does without it. */
const MANY = 500;

/**
 * Brings commits onto the disk. SQLite writes its log, and leaves this step out (`synchronous=NORMAL`), for two reasons. It
 * would stop the event loop until the disk has written, and a disk that hangs would silence the whole process. And this
 * build of SQLite calls `fsync`, which writes the time of the file's last change as well; `fdatasync` does not. Before
 * SQLite copies the log into the database, or overwrites it, it waits for the disk by itself.
 */
export function createLogSync(file: string) {
  const descriptor = openSync(file, 'r+');
  const memory = new Int32Array(new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT));
  let commits = 0;
  let asked = 0;
  let worker: Worker | undefined;
  let isClosed = false;
  let silentSince = Number.POSITIVE_INFINITY;

  /** Does the work of a thread that has ended. */
  function stepIn(): void {
    Atomics.store(memory, RUNS, 0);
    if (isClosed || Atomics.load(memory, DONE) === asked) return;
    Atomics.store(memory, ERRNO, errnoOfSync(descriptor));
    Atomics.store(memory, DONE, asked);
    Atomics.notify(memory, DONE);
  }

  function start(): void {
    const module = new URL(`./log-sync-worker${MODULE_ENDING}`, import.meta.url);
    const workerData: ForSync = { descriptor, memory };
    worker = new Worker(module, { workerData, execArgv: [], env: {} });
    worker.unref();
    worker.once('error', () => undefined); // 'exit' follows
    worker.once('exit', stepIn);
  }

  /**
   * After an error nobody knows what the disk holds, not even the system. So nobody gets an answer and the process ends: the
   * error is thrown outside of all callers, and the promise stays open.
   */
  function conclude(errno: number): Promise<never> | undefined {
    if (errno === 0) return undefined;
    process.nextTick(() => {
      throw new Error(`the write-ahead log could not be written to the disk: ${getSystemErrorMessage(errno)}`);
    });
    return new Promise<never>(() => undefined);
  }

  /** Waits for the thread without stopping the event loop. `former`: the number of the request before. */
  async function patiently(former: number): Promise<void> {
    silentSince = performance.now();
    worker?.ref(); // keeps the process alive
    await Atomics.waitAsync(memory, DONE, former).value;
    worker?.unref();
    silentSince = Number.POSITIVE_INFINITY;
    await conclude(Atomics.load(memory, ERRNO));
  }

  return {
    /** Waits until the disk has all that was committed. Returns a promise only when that takes long. */
    sync(): Promise<void> | undefined {
      commits += 1;
      if (commits === MANY) start();
      if (Atomics.load(memory, RUNS) === 0) return conclude(errnoOfSync(descriptor));
      const former = asked;
      asked = (asked + 1) | 0;
      Atomics.store(memory, ASKED, asked);
      Atomics.notify(memory, ASKED);
      if (Atomics.wait(memory, DONE, former, MOST_MS) === 'timed-out') return patiently(former);
      return conclude(Atomics.load(memory, ERRNO));
    },
    /** Throws while the disk does not answer. */
    check(): void {
      const silentMs = performance.now() - silentSince;
      if (silentMs >= HANGS_MS) throw new Error(`the disk has not answered for ${Math.round(silentMs / 1000)} s`);
    },
    async close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      await worker?.terminate();
      closeSync(descriptor);
    },
  };
}
