import { pause, type Timers } from '../connection/timers.ts';
import { DeviceFailure } from '../core/device-failure.ts';
import { isThere, PartFile, type Position } from './part-file.ts';

/** Attempts in a row without a new byte, while the device is connected; the pauses between them double. */
const MOST_FRUITLESS = 8;
const FIRST_PAUSE = 1000;
const MOST_FRESH_URLS = 3;
/** A server that sends nothing for so long is given up. */
const STILL_MILLISECONDS = 60_000;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const MOST_REDIRECTS = 5;
/** The URL is no good any more; object stores answer 403 when it has expired. */
const NEEDS_FRESH_URL: readonly number[] = [401, 403, 404, 410];

/** The file that is wanted, as the parameters of the command have it. */
export interface WantedFile {
  url: string;
  size: number;
  sha256: string;
}

export interface DownloadParts {
  /** Where a former attempt ended; 0 bytes if there was none. */
  position: Position;
  /** Throws when the disk fails. */
  store(position: Position): void;
  /** Another URL of the same file. */
  freshUrl(): Promise<string>;
  /** Resolves when the device is connected: without a network an attempt says nothing about the file. */
  online(): Promise<void>;
  timers: Timers;
  signal: AbortSignal;
}

const failed = (message: string, cause?: unknown): DeviceFailure =>
  new DeviceFailure('DOWNLOAD_FAILED', message, { cause });

const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(String((error as NodeJS.ErrnoException).code));

export function readWanted({ url, size, sha256 }: Readonly<Record<string, unknown>>): WantedFile {
  if (typeof url !== 'string' || typeof size !== 'number' || typeof sha256 !== 'string')
    throw new DeviceFailure('INVALID_PARAMETERS', 'the parameters have no url, size and sha256');
  return { url, size, sha256 };
}

const strongTag = (tag: string | null): string | undefined => (tag?.startsWith('"') ? tag : undefined);

/** One request: `end` is how it ended. */
type End = 'whole' | 'part' | 'no answer' | 'needs a fresh URL' | 'begin anew';

/** Undefined: the answer has the file, or a part of it. */
function endOf(status: number): End | undefined {
  if (NEEDS_FRESH_URL.includes(status)) return 'needs a fresh URL';
  if (status === 416) return 'begin anew';
  return status === 200 || status === 206 ? undefined : 'no answer';
}

/** Follows redirects, also to another host, because the SHA-256 is that of the command; never from https to http. */
async function get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  let at = new URL(url);
  for (let redirects = 0; ; redirects += 1) {
    const answer = await fetch(at, { headers, signal, redirect: 'manual' });
    const to = REDIRECTS.includes(answer.status) ? answer.headers.get('location') : null;
    if (to === null || redirects >= MOST_REDIRECTS) return answer;
    await answer.body?.cancel();
    const next = new URL(to, at);
    if (at.protocol === 'https:' && next.protocol !== 'https:')
      throw failed(`the server redirects to ${next.protocol}`);
    at = next;
  }
}

async function attempt(part: PartFile, url: string, { size }: WantedFile, parts: DownloadParts): Promise<End> {
  const still = new AbortController();
  const signal = AbortSignal.any([parts.signal, still.signal]);
  let cancel = parts.timers.after(STILL_MILLISECONDS, () => still.abort());
  try {
    const headers: Record<string, string> = { 'accept-encoding': 'identity' };
    if (part.bytes > 0) headers['range'] = `bytes=${part.bytes}-`;
    if (part.bytes > 0 && part.tag !== undefined) headers['if-range'] = part.tag;
    const answer = await get(url, headers, signal);
    const end = endOf(answer.status);
    if (end) await answer.body?.cancel();
    if (end) return end;
    await takeUp(part, answer, size);
    for await (const chunk of answer.body ?? []) {
      cancel();
      cancel = parts.timers.after(STILL_MILLISECONDS, () => still.abort());
      if (part.bytes + chunk.length > size) throw failed(`the file has more than ${size} bytes`);
      await part.append(chunk);
    }
    return part.bytes === size ? 'whole' : 'part';
  } catch (error) {
    if (error instanceof DeviceFailure || parts.signal.aborted || isOfDisk(error)) throw error;
    return 'part'; // a connection that broke
  } finally {
    cancel();
  }
}

/** Errors of files name the call that failed, those of connections do not. */
const isOfDisk = (error: unknown): boolean =>
  ['write', 'fsync', 'ftruncate', 'open'].includes(String((error as NodeJS.ErrnoException).syscall));

/** Puts the answer behind the bytes that are there, or in their place. */
async function takeUp(part: PartFile, answer: Response, size: number): Promise<void> {
  const [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.headers.get('content-range') ?? '') ?? [];
  const isRest = answer.status === 206;
  if (isRest && Number(from) !== part.bytes)
    throw failed('the server sent another part of the file than was asked for');
  const told = isRest ? total : answer.headers.get('content-length');
  if (typeof told === 'string' && Number(told) !== size) throw failed(`the file has ${told} bytes, and not ${size}`);
  if (!isRest) await part.clear(strongTag(answer.headers.get('etag')));
}

/**
 * Downloads a file to `path` (rule `downloads`). It is there with its size and its SHA-256 when this resolves. An attempt
 * that broke off goes on behind its last byte, also after a power cut. Throws `DOWNLOAD_FAILED`, or `STORAGE_FULL`.
 */
export async function download(path: string, wanted: WantedFile, parts: DownloadParts): Promise<void> {
  try {
    if (await isThere(path, wanted.size, wanted.sha256)) return; // a power cut came after the download
    const part = await PartFile.open(path, parts.position, parts.store);
    try {
      await fill(part, wanted, parts);
    } catch (error) {
      // A wrong file is of no use, and one that fills the disk leaves no room for the answer. Otherwise it goes on later.
      if (error instanceof DeviceFailure || isFull(error)) await part.remove();
      else await part.close();
      throw error;
    }
    await part.finish();
  } catch (error) {
    if (error instanceof DeviceFailure || parts.signal.aborted) throw error;
    if (isFull(error)) throw new DeviceFailure('STORAGE_FULL', 'the file has no room', { cause: error });
    throw failed(error instanceof Error ? error.message : String(error), error);
  }
}

async function fill(part: PartFile, wanted: WantedFile, parts: DownloadParts): Promise<void> {
  let { url } = wanted;
  let isOfOneAnswer = part.bytes === 0;
  for (let fruitless = 0, fresh = 0; ; ) {
    await parts.online();
    const before = part.bytes;
    const end = part.bytes === wanted.size ? 'whole' : await attempt(part, url, wanted, parts);
    if (end === 'whole' && part.hasHash(wanted.sha256)) return;
    if (end === 'whole' && isOfOneAnswer) throw failed('the file has another SHA-256');
    if (end === 'whole' || end === 'begin anew') {
      await part.clear(undefined); // its parts may be those of two files
      isOfOneAnswer = true;
    } else if (end === 'needs a fresh URL') {
      fresh += 1;
      if (fresh > MOST_FRESH_URLS) throw failed('the server takes none of its URLs');
      url = await parts.freshUrl();
    } else isOfOneAnswer = false;
    fruitless = part.bytes > before ? 0 : fruitless + 1;
    if (fruitless >= MOST_FRUITLESS) throw failed('the server sent nothing more');
    if (end === 'no answer' || end === 'part')
      await pause(parts.timers, FIRST_PAUSE * 2 ** Math.max(fruitless - 1, 0), parts.signal);
  }
}
