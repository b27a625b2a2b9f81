import { backOff } from '../back-off.ts';
import type { Failure } from '../mqtt/messages.ts';
import type { Requests } from '../mqtt/requests.ts';
import { createRandom, type Random } from '../random.ts';
import { pause, type Timers } from '../timers.ts';
import type { Patience } from './download.ts';
import { movie } from './movie.ts';
import { readTarget, type UploadTarget, upload } from './upload.ts';

/** A file that a device has made. The seed decides its content, and whether the upload breaks off. */
export interface OwnFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly seed: number;
  /** Otherwise it is a movie of this size. */
  readonly content?: Buffer;
}

/** The files whose URLs one request asks for. */
interface UploadOrder {
  readonly type: 'recordingUploadUrls' | 'fileUploadUrl';
  readonly data: Readonly<Record<string, unknown>>;
  readonly files: readonly OwnFile[];
  /** Whether the first URL is used too late, so that it is refused. */
  readonly late?: boolean;
}

/**
 * `unwanted`: the device reports no failure to the service, because the application does not want these files, or
 * because the service itself reports the failure.
 */
export type UploadOutcome =
  /** `sha256s`: of each file, in their order. */
  | { kind: 'sent'; sha256s: readonly string[] }
  | { kind: 'failed'; error: Failure }
  | { kind: 'unwanted'; error: Failure };

/**
 * Codes after which the device reports no failure: the application wants no such files, the device is not activated, or
 * the service itself has already reported the failure.
 */
const UNWANTED = new Set(['NOT_CONFIGURED', 'NOT_ACTIVATED', 'UPLOAD_URL_FAILED']);

function readTargets({ type, files }: UploadOrder, data: Readonly<Record<string, unknown>>): UploadTarget[] | string {
  const { urls } = data;
  const found = type === 'fileUploadUrl' ? [data] : files.map(({ name }) => named(urls, name));
  const targets = found.map(readTarget);
  return targets.find((target) => typeof target === 'string') ?? (targets as UploadTarget[]);
}

const named = (urls: unknown, name: string): unknown =>
  Array.isArray(urls) ? urls.find((url) => (url as { name?: unknown } | null)?.name === name) : undefined;

/** Makes a URL invalid, because no signature covers an added parameter. */
const expired = ({ uploadUrl, ...rest }: UploadTarget): UploadTarget => ({
  ...rest,
  uploadUrl: `${uploadUrl}${uploadUrl.includes('?') ? '&' : '?'}too-late=true`,
});

/** Uploads the files of a device. */
export interface Uploader {
  /**
   * Asks for URLs and sends each file to its own URL, with repetitions after faults that may pass. Rejects only with
   * the reason of `signal`.
   */
  send(order: UploadOrder, signal: AbortSignal): Promise<UploadOutcome>;
}

export function createUploader({
  requests,
  patience,
  failureRate,
  random,
  timers,
  onRetry,
  onFile,
}: {
  requests: Requests;
  patience: Patience;
  /** The share of files that break off in the middle, at each attempt. */
  failureRate: number;
  random: Random;
  timers: Timers;
  onRetry: () => void;
  onFile: (file: OwnFile) => void;
}): Uploader {
  const failed = (code: string, message: string): UploadOutcome => ({ kind: 'failed', error: { code, message } });

  /** Waits for the next attempt after a fault that may pass; resolves to false if this was the last attempt. */
  async function again(failures: number, signal: AbortSignal): Promise<boolean> {
    if (failures >= patience.attempts) return false;
    onRetry();
    await pause(timers, backOff(random, patience.pause, failures), signal);
    signal.throwIfAborted();
    return true;
  }

  async function askForTargets(order: UploadOrder, signal: AbortSignal): Promise<UploadTarget[] | UploadOutcome> {
    for (let failures = 1; ; failures += 1) {
      const reply = await requests.ask(order.type, order.data, signal);
      if (reply !== 'timeout' && 'data' in reply) {
        const targets = readTargets(order, reply.data);
        return typeof targets === 'string' ? failed('UPLOAD_URL_FAILED', `no upload URL: ${targets}`) : targets;
      }
      const { code, message } =
        reply === 'timeout' ? { code: 'UPLOAD_URL_FAILED', message: 'the service did not answer' } : reply.error;
      if (reply !== 'timeout' && UNWANTED.has(code)) return { kind: 'unwanted', error: { code, message } };
      const passes = reply === 'timeout' || code === 'BUSY';
      if (!passes || !(await again(failures, signal))) return failed(code, message);
    }
  }

  return {
    async send(order, signal) {
      let targets = await askForTargets(order, signal);
      const sha256s: string[] = [];
      if (order.late && Array.isArray(targets)) targets = targets.map(expired);
      for (const [index, file] of order.files.entries()) {
        const { size } = file;
        const breaks = createRandom(file.seed)() < failureRate;
        for (let failures = 1; ; failures += 1) {
          if (!Array.isArray(targets)) return targets;
          const target = targets[index]!;
          const { stall, pace } = patience;
          const content = file.content ? [file.content] : movie(file);
          const ending = await upload({ target, size, content, breaks, stall, pace, signal, timers });
          if (ending.kind === 'done') {
            sha256s.push(ending.sha256);
            break;
          }
          if (ending.kind === 'over') return failed('UPLOAD_FAILED', `${file.name}: ${ending.why}`);
          if (!(await again(failures, signal))) {
            return failed('UPLOAD_FAILED', `${file.name}: ${ending.why}; given up after ${failures} attempts`);
          }
          if (ending.kind === 'expired') targets = await askForTargets(order, signal);
        }
        onFile(file);
      }
      return Array.isArray(targets) ? { kind: 'sent', sha256s } : targets;
    },
  };
}
