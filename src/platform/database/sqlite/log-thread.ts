import { closeSync, openSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { Worker } from 'node:worker_threads';
import { MODULE_ENDING } from '@lapel/schemas/base/installation';
import type SqliteDatabase from 'better-sqlite3';
import { threadOptions } from '../../../runtime/thread-options.ts';
import {
  ASKED,
  carryOut,
  DONE,
  ENDED,
  FAILED,
  FINE,
  PLACES,
  REQUEST,
  REQUESTS,
  RESULT,
  type Request,
  RUNS,
  type Shared,
  STARTS,
  WAITS,
} from './log-requests.ts';
import { BUSY_TIMEOUT_MS } from './writer.ts';

/**
 * Milliseconds for which the event loop waits for the disk. Most disks take less. All callers of the commit then go on at
 * once and together, so that their next commit is one again. The units of a commit may take as long.
 */
const MOST_MS = 4;
/** Milliseconds without an answer after which a disk counts as one that hangs. */
const HANGS_MS = 2_000;
/** Commits after which the thread starts, because a process that makes few does without it. */
const MANY = 500;

interface Parts {
  /** The connection that writes. */
  connection: SqliteDatabase.Database;
  /** The database's file. */
  file: string;
  /** Called when the thread fails; from then on its work is done here. */
  onError(cause: unknown): void;
}

/**
 * Waits for the disk in place of SQLite, for two reasons. SQLite would stop the event loop until the disk has written the
 * log, and a disk that hangs would silence the whole process; here a thread waits. And this build of SQLite calls
 * `fsync`, which writes the time of the file's last change as well; `fdatasync` does not. So SQLite runs with
 * `synchronous=NORMAL` and without `wal_autocheckpoint`. Requests to the thread come one after another.
 */
export function createLogThread({ connection, file, onError }: Parts) {
  const descriptor = openSync(`${file}-wal`, 'r+');
  const memory = new Int32Array(new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT));
  let commits = 0;
  let asked = 0;
  let worker: Worker | undefined;
  let isClosed = false;
  let silentSince = Number.POSITIVE_INFINITY;
  let pending: Promise<number> | undefined;
  const exited = Promise.withResolvers<void>();

  /** Copies without waiting for the lock of a reader, which would stop the event loop. */
  function withoutWaiting<Result>(work: () => Result): Result {
    connection.pragma('busy_timeout = 0');
    try {
      return work();
    } finally {
      connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  function carryOutHere(request: Request): number {
    const work = (): number => carryOut(request, { descriptor, connection: () => connection });
    return request === 'sync' ? work() : withoutWaiting(work);
  }

  /** Does the work of a thread that has ended. */
  function stepIn(): void {
    Atomics.store(memory, RUNS, ENDED);
    Atomics.notify(memory, RUNS);
    exited.resolve();
    if (isClosed || Atomics.load(memory, DONE) === asked) return;
    Atomics.store(memory, RESULT, carryOutHere(REQUESTS[Atomics.load(memory, REQUEST)] as Request));
    Atomics.store(memory, DONE, asked);
    Atomics.notify(memory, DONE);
  }

  function start(): void {
    const module = new URL(`./log-thread-worker${MODULE_ENDING}`, import.meta.url);
    const workerData: Shared = { file, descriptor, memory };
    worker = new Worker(module, { workerData, ...threadOptions() });
    worker.unref();
    worker.once('error', onError); // 'exit' follows
    worker.once('exit', stepIn);
  }

  /** Waits for the thread without stopping the event loop. `former`: the number of the request before. */
  async function patiently(former: number): Promise<number> {
    silentSince = performance.now();
    worker?.ref(); // keeps the process alive
    await Atomics.waitAsync(memory, DONE, former).value;
    worker?.unref();
    silentSince = Number.POSITIVE_INFINITY;
    pending = undefined;
    return Atomics.load(memory, RESULT);
  }

  function post(request: (typeof REQUESTS)[number]): void {
    asked = (asked + 1) | 0;
    Atomics.store(memory, REQUEST, REQUESTS.indexOf(request));
    Atomics.store(memory, ASKED, asked);
    Atomics.notify(memory, ASKED);
  }

  /** Has a request carried out. Returns its result, or a promise when that takes longer than the event loop may wait. */
  function ask(request: Request, waitMs: number): number | Promise<number> {
    if (Atomics.load(memory, RUNS) !== WAITS) return carryOutHere(request);
    const former = asked;
    post(request);
    const waited = waitMs > 0 && Atomics.wait(memory, DONE, former, waitMs) !== 'timed-out';
    if (waited) return Atomics.load(memory, RESULT);
    pending = patiently(former);
    return pending;
  }

  /**
   * After an error nobody knows what the disk holds, not even the system. So nobody gets an answer and the process ends: the
   * error is thrown outside of all callers, and the promise stays open.
   */
  function conclude(result: number): Promise<never> | undefined {
    if (result === FINE) return undefined;
    process.nextTick(() => {
      throw new Error(`the write-ahead log could not be written to the disk: ${getSystemErrorMessage(result)}`);
    });
    return new Promise<never>(() => undefined);
  }

  return {
    /** Waits until the disk has all that was committed. Returns a promise only when that takes long. */
    sync(): Promise<void> | undefined {
      commits += 1;
      if (commits === MANY) start();
      const result = ask('sync', MOST_MS);
      return typeof result === 'number' ? conclude(result) : result.then(conclude);
    },
    /** Copies the log into the database. An error is not told: the log stays as it is. */
    copy(): void {
      if (!pending) void ask('copy', 0);
    },
    /** Empties the log; false: somebody uses it. Rejects with the error of SQLite. */
    async empty(): Promise<boolean> {
      if (pending) return false;
      const result = await ask('empty', 0);
      if (result === FAILED && connection.open && !connection.inTransaction)
        withoutWaiting(() => connection.pragma('wal_checkpoint(TRUNCATE)')); // throws the error
      return result === FINE;
    },
    /** Resolves when the request in progress has ended; undefined: there is none. No commit may begin meanwhile. */
    busy: (): Promise<unknown> | undefined => pending,
    /** Throws while the disk does not answer. */
    check(): void {
      const silentMs = performance.now() - silentSince;
      if (silentMs >= HANGS_MS) throw new Error(`the disk has not answered for ${Math.round(silentMs / 1000)} s`);
    },
    async close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      await pending;
      if (worker) {
        worker.ref();
        // A thread that is terminated while it starts may go on and wait for ever.
        await Atomics.waitAsync(memory, RUNS, STARTS).value;
        post('end');
        await exited.promise;
      }
      closeSync(descriptor);
    },
  };
}
