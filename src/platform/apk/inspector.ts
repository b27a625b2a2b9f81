import { Worker } from 'node:worker_threads';
import type { Clock } from '../../runtime/clock.ts';
import { ApkError } from './apk-error.ts';
import type { ApkSource } from './bounded-source.ts';
import type { FromWorker, ToWorker } from './inspector-worker.ts';
import type { ApkManifest } from './manifest.ts';

/** Milliseconds that a file may be thought about between two reads of it; a large real one takes a hundred. */
const LONGEST_THOUGHT = 5_000;
/** Mebibytes: directory, manifest and the objects made of them, with room to spare. */
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

const givenUp = (): ApkError => new ApkError('too_large', 'the file takes too long to read');

interface Parts {
  clock: Clock;
  /** The module that the worker runs; another one in tests. */
  module?: URL;
}

/**
 * Reads APKs of strangers in a worker of its own for each: a file that nobody has thought of yet can stop that worker, and
 * not the service. The worker reads the file through this side. Answers and throws what `readApk` does, and the reason of
 * the signal when that is aborted.
 */
export function createApkInspector({ clock, module = new URL('./inspector-worker.ts', import.meta.url) }: Parts) {
  return async function inspect(source: ApkSource, signal?: AbortSignal): Promise<ApkManifest> {
    const { promise, resolve, reject } = Promise.withResolvers<ApkManifest>();
    // Nothing of how this process was started is the worker's business.
    const worker = new Worker(module, { workerData: source.size, resourceLimits: MEMORY, execArgv: [], env: {} });
    let cancel = (): void => undefined;
    const think = (): void => {
      cancel = clock.after(LONGEST_THOUGHT, () => reject(givenUp()));
    };
    const send = (message: ToWorker): void => worker.postMessage(message);

    async function read(start: number, end: number): Promise<void> {
      try {
        const bytes = await source.read(start, end);
        think();
        send({ bytes });
      } catch (error) {
        reject(error); // the store's fault, not the file's
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
    think();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', end);
      cancel();
      await worker.terminate();
    }
  };
}
