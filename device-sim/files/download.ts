import { type FileHandle, open } from 'node:fs/promises';
import { backOff } from '../back-off.ts';
import type { Failure } from '../mqtt/messages.ts';
import type { Random, Range } from '../random.ts';
import { pause, type Timers } from '../timers.ts';
import type { Source, SourceHolder } from './source.ts';

/** How long a device keeps trying a download. */
export interface Patience {
  /** The number of attempts in a row without progress. */
  readonly attempts: number;
  /** Bounds in milliseconds of the pause before the next attempt. */
  readonly pause: Range;
  /** Milliseconds without a byte after which an attempt has failed. */
  readonly stall: number;
  /** Milliseconds to wait for the answer to a request for a fresh URL. */
  readonly answer: number;
  /** Waits as long as the network of the device needs for so many bytes; by default not at all. */
  readonly pace?: (bytes: number, signal: AbortSignal) => Promise<void>;
}

export const plainPatience: Patience = {
  attempts: 6,
  pause: { min: 500, max: 30_000 },
  stall: 30_000,
  answer: 30_000,
};

/** The part of the file that is on the disk. */
interface Part {
  readonly handle: FileHandle;
  /** A fault of the network that the next written chunk plays: a cut connection or wrong bytes. */
  mishap: string | undefined;
  bytes: number;
  /** A strong ETag proves that the rest belongs to the same file (RFC 9110 13.1.5). */
  etag: string | undefined;
}

/** How an attempt ended, and the next step: `again`, `expired` (another URL is needed) or `over`. */
type Ending = { kind: 'done' } | { kind: 'again' | 'expired' | 'over'; why: string };

const over = (why: string): Ending => ({ kind: 'over', why });
const again = (why: string): Ending => ({ kind: 'again', why });

const reasonOf = (error: unknown): string => {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error ? cause.message || String(cause) : (error as Error).message;
};

/** An error of the disk, not of the network: it has the name of a system call. */
const diskFailure = (error: unknown): Failure => {
  const { code } = error as { code?: unknown };
  const message = `the file cannot be written: ${(error as Error).message}`;
  return { code: code === 'ENOSPC' ? 'STORAGE_FULL' : 'INTERNAL', message };
};

async function forget(part: Part): Promise<void> {
  part.bytes = 0;
  part.etag = undefined;
  await part.handle.truncate(0);
}

/**
 * Writes a chunk to the disk, and plays a fault of the network if one is due: it breaks the connection after half of
 * the chunk, or changes one byte.
 */
async function append(part: Part, chunk: Uint8Array): Promise<void> {
  const { mishap } = part;
  part.mishap = undefined;
  if (mishap === 'download-wrong-bytes') chunk[0] = ~chunk[0]!;
  if (mishap !== 'download-cut') return write(part, chunk);
  await write(part, chunk.subarray(0, chunk.length >> 1));
  throw new Error('the connection broke in the middle of the file');
}

async function write(part: Part, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    const { bytesWritten } = await part.handle.write(chunk, written, chunk.length - written, part.bytes + written);
    written += bytesWritten;
  }
  part.bytes += chunk.length;
}

/** The meaning of an answer that is not the file. */
async function explain(response: Response, part: Part): Promise<Ending> {
  const { status } = response;
  if (status === 401 || status === 403) return { kind: 'expired', why: `the URL is refused (${status})` };
  if (status === 416) {
    // The file of the server is shorter than the part on the disk, so this part belongs to another file.
    await forget(part);
    return again('the server does not have this range (416)');
  }
  if (status >= 500 || status === 408 || status === 429) return again(`the server answered ${status}`);
  return over(`the server answered ${status}`);
}

/** Whether a 206 carries exactly the rest of the file (RFC 9110 14.4). */
function isTheRest(response: Response, have: number, size: number): boolean {
  const [, from, to, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  return Number(from) === have && Number(to) === size - 1 && (total === '*' || Number(total) === size);
}

/**
 * Makes one request: for the missing end of the file if the beginning on the disk certainly belongs to the same file,
 * else for the whole file. Throws errors of the disk; errors of the network are in the returned ending.
 */
async function attempt({
  source: { url, size },
  part,
  signal,
  stall,
  pace,
  timers,
  onResumed,
  onProgress,
}: {
  source: Source;
  part: Part;
  signal: AbortSignal;
  stall: number;
  pace: Patience['pace'];
  timers: Timers;
  onResumed: () => void;
  onProgress: (bytes: number, size: number) => void;
}): Promise<Ending> {
  if (part.bytes > 0 && (part.etag === undefined || part.bytes >= size)) await forget(part);
  const stalled = new AbortController();
  const watch = (): (() => void) => timers.after(stall, () => stalled.abort(new Error('nothing came any more')));
  let unwatch = watch();
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (part.etag !== undefined) Object.assign(headers, { range: `bytes=${part.bytes}-`, 'if-range': part.etag });
  let body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, stalled.signal]) });
    body = response.body?.getReader();
    if (response.status === 206 && !isTheRest(response, part.bytes, size)) {
      await forget(part);
      return again('another range was sent than was asked for');
    }
    if (response.status === 206) onResumed();
    else if (response.status === 200) {
      if (part.bytes > 0) await forget(part);
      const length = response.headers.get('content-length') ?? size;
      if (Number(length) !== size) return over(`the file has ${length} bytes, not ${size}`);
      const etag = response.headers.get('etag') ?? '';
      part.etag = etag.startsWith('"') ? etag : undefined;
    } else return await explain(response, part);

    for (let next = await body?.read(); next && !next.done; next = await body?.read()) {
      if (part.bytes + next.value.length > size) return over(`the file has more than ${size} bytes`);
      unwatch();
      await pace?.(next.value.length, signal);
      unwatch = watch();
      await append(part, next.value);
      onProgress(part.bytes, size);
    }
    return part.bytes === size ? { kind: 'done' } : over(`the file has ${part.bytes} bytes, not ${size}`);
  } catch (error) {
    // An error of the disk; errors of the network are causes of fetch's error.
    if ('syscall' in (error as Error)) throw error;
    signal.throwIfAborted();
    return again(reasonOf(stalled.signal.aborted ? stalled.signal.reason : error));
  } finally {
    unwatch();
    body?.cancel().catch(() => {});
  }
}

/** The course of a download, for the figures of the run. */
export interface Passage {
  bytes: number;
  /** Attempts that resumed after an earlier one was cut. */
  resumed: number;
  /** Fresh URLs that the device asked for. */
  renewed: number;
}

/**
 * Downloads a file of a known size into `file`, chunk by chunk, through lost connections, slow servers and expired
 * URLs. On failure the file stays as it is. Resolves to the failure, or to undefined; counts in `passage`. Rejects only
 * with the reason of `signal`.
 */
export async function download({
  source,
  file,
  passage,
  renew,
  onProgress,
  signal,
  patience,
  random,
  timers,
  mishap,
}: {
  source: SourceHolder;
  file: string;
  passage: Passage;
  /** Asks for a fresh source. A failure is final; undefined means that there was no answer. */
  renew: (signal: AbortSignal) => Promise<Source | Failure | undefined>;
  onProgress: (bytes: number, size: number) => void;
  signal: AbortSignal;
  patience: Patience;
  random: Random;
  timers: Timers;
  mishap?: string | undefined;
}): Promise<Failure | undefined> {
  const failed = (why: string): Failure => ({ code: 'DOWNLOAD_FAILED', message: why });

  const onResumed = (): void => {
    passage.resumed += 1;
  };

  /**
   * Resolves to a fresh URL: from the answer to the device's request, or from a repetition of the command, whichever
   * comes first. The repetition may come while the device still waits for the answer.
   */
  async function renewed(): Promise<Source | Failure | undefined> {
    const asking = new AbortController();
    passage.renewed += 1;
    try {
      return (await Promise.race([renew(AbortSignal.any([signal, asking.signal])), source.replaced()])) ?? undefined;
    } finally {
      asking.abort();
    }
  }

  async function obtain(part: Part): Promise<Failure | undefined> {
    const { stall, pace } = patience;
    let furthest = 0;
    for (let failures = 0; ; ) {
      signal.throwIfAborted();
      const used = source.current;
      const ending = await attempt({ source: used, part, signal, stall, pace, timers, onResumed, onProgress });
      if (ending.kind === 'done') return undefined;
      if (ending.kind === 'over') return failed(ending.why);

      failures = part.bytes > furthest ? 1 : failures + 1;
      furthest = Math.max(furthest, part.bytes);
      if (failures >= patience.attempts) return failed(`${ending.why}; given up after ${failures} attempts`);
      // A repetition of the command has brought a newer URL during the attempt, so the next attempt uses it at once.
      if (source.current !== used) continue;
      if (ending.kind === 'again') {
        await pause(timers, backOff(random, patience.pause, failures), signal);
        continue;
      }
      const fresh = await renewed();
      if (fresh && 'code' in fresh) return fresh;
      if (fresh) source.replace(fresh);
    }
  }

  try {
    await using handle = await open(file, 'w', 0o600);
    const part: Part = { handle, mishap, bytes: 0, etag: undefined };
    const failure = await obtain(part);
    passage.bytes = part.bytes;
    return failure;
  } catch (error) {
    signal.throwIfAborted();
    return diskFailure(error);
  }
}
