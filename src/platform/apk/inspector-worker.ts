// The worker of the inspector. It reads one APK, asks the main thread for the bytes, and posts the manifest or the fault.
import { parentPort, workerData } from 'node:worker_threads';
import { ApkError, type ApkFault } from '@lapel/schemas/apk/apk-error';
import { type ApkParts, readApkParts } from '@lapel/schemas/apk/read-apk';

export interface ToWorker {
  bytes: Uint8Array;
}
export type FromWorker =
  /** Asks for the bytes from `start` to `end`, both included. */
  { start: number; end: number } | { manifest: ApkParts } | { reason: ApkFault; message: string };

if (!parentPort) throw new Error('this module is a worker');
const port = parentPort;

function read(start: number, end: number): Promise<Uint8Array> {
  const answer = new Promise<Uint8Array>((resolve) => port.once('message', ({ bytes }: ToWorker) => resolve(bytes)));
  port.postMessage({ start, end } satisfies FromWorker);
  return answer;
}

try {
  const manifest = await readApkParts({ size: workerData as number, read });
  port.postMessage({ manifest } satisfies FromWorker);
} catch (error) {
  if (!(error instanceof ApkError)) throw error;
  const { reason, message } = error;
  port.postMessage({ reason, message } satisfies FromWorker);
}
