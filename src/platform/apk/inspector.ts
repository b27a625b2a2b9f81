import { Worker } from 'node:worker_threads';
import { ApkError } from '@lapel/schemas/apk/apk-error';
import type { ApkSource } from '@lapel/schemas/apk/bounded-source';
import type { ApkParts } from '@lapel/schemas/apk/read-apk';
import { MODULE_ENDING } from '@lapel/schemas/base/installation';
import type { Clock } from '../../runtime/clock.ts';
import { threadOptions } from '../../runtime/thread-options.ts';
import type { FromWorker, ToWorker } from './inspector-worker.ts';

/** Milliseconds that the worker may compute between two reads of the file; a large real file takes a hundred. */
const LONGEST_COMPUTATION_MS = 5_000;
/** Memory limits of the worker, in mebibytes: directory, manifest and the objects made of them, with room to spare. */
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

const givenUp = (): ApkError => new ApkError('too_large', 'the file takes too long to read');

interface Parts {
  clock: Clock;
  /** The module that the worker runs; tests give another one. */
  module?: URL;
}

/**
 * Reads APKs of strangers. Each file has a worker of its own, so that a file made to break the reader can stop that worker,
 * but not the service. The worker asks this thread for the bytes of the file. Returns and throws what `readApkParts` does; when
 * `signal` is aborted, its reason is thrown.
 */
const WORKER = new URL(`./inspector-worker${MODULE_ENDING}`, import.meta.url);

export function createApkInspector({ clock, module = WORKER }: Parts) {
  return async function inspect(source: ApkSource, signal?: AbortSignal): Promise<ApkParts> {
    const { promise, resolve, reject } = Promise.withResolvers<ApkParts>();
    const worker = new Worker(module, { workerData: source.size, resourceLimits: MEMORY, ...threadOptions() });
    let cancel = (): void => undefined;
    const startTimer = (): void => {
      cancel = clock.after(LONGEST_COMPUTATION_MS, () => reject(givenUp()));
    };
    const send = (message: ToWorker): void => worker.postMessage(message);

    async function read(start: number, end: number): Promise<void> {
      try {
        const bytes = await source.read(start, end);
        startTimer();
        send({ bytes });
      } catch (error) {
        reject(error); // an error of the object store; the file itself may be good
      }
    }

    worker.on('message', (message: FromWorker) => {
      cancel();
      if ('start' in message) void read(message.start, message.end);
      else if ('manifest' in message) resolve(message.manifest);
      else reject(new ApkError(message.reason, message.message));
    });
    worker.on('error', (error: Error & { code?: string }) => {
      reject(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ApkError('too_large', 'the file takes too much memory') : error,
      );
    });
    worker.on('exit', () => reject(new Error('the worker ended without an answer')));
    const end = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    startTimer();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', end);
      cancel();
      await worker.terminate();
    }
  };
}
