import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isRecord } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import type { Patience } from './download.ts';

/** The target of an upload, which the service got from the customer. */
export interface UploadTarget {
  readonly uploadUrl: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the target of an upload from the answer of the service. A returned string says what is wrong with it. */
export function readTarget(value: unknown): UploadTarget | string {
  if (!isRecord(value)) return 'it is not an object';
  const { uploadUrl, method = 'PUT', headers = {} } = value;
  const protocol = typeof uploadUrl === 'string' ? URL.parse(uploadUrl)?.protocol : undefined;
  if (protocol !== 'http:' && protocol !== 'https:') return 'uploadUrl is not an http or https URL';
  if (typeof method !== 'string' || !/^[A-Z]+$/.test(method)) return 'method is none';
  if (!isRecord(headers) || !Object.values(headers).every((text) => typeof text === 'string')) {
    return 'headers are not texts';
  }
  return { uploadUrl: uploadUrl as string, method, headers: headers as Record<string, string> };
}

/**
 * How an attempt ended, and the next step: `again`, `expired` (another URL is needed) or `over`. `sha256`: of the bytes that
 * were sent, in hexadecimal digits.
 */
type UploadEnding = { kind: 'done'; sha256: string } | { kind: 'again' | 'expired' | 'over'; why: string };

/** The header in which an S3 store tells the SHA-256 of the stored bytes, in Base64, if it computes one. */
const STORED_SHA256 = 'x-amz-checksum-sha256';

function ending(status: number, sent: Buffer, stored: unknown): UploadEnding {
  if (status >= 200 && status < 300) {
    const isStored = typeof stored !== 'string' || stored === sent.toString('base64');
    return isStored
      ? { kind: 'done', sha256: sent.toString('hex') }
      : { kind: 'again', why: 'the store has other bytes than were sent' };
  }
  if (status === 401 || status === 403) return { kind: 'expired', why: `the URL is refused (${status})` };
  const again = status >= 500 || status === 408 || status === 429;
  return { kind: again ? 'again' : 'over', why: `the server answered ${status}` };
}

/**
 * If the server answers neither "100 Continue" nor anything else within this time, the device sends the file
 * nevertheless.
 */
const CONTINUE_MILLISECONDS = 1000;

/**
 * Whether the server wants the file. A server that refuses the URL says so before the device sends the file (RFC 9110
 * 10.1.1).
 */
function invited(request: ClientRequest, timers: Timers): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = timers.after(CONTINUE_MILLISECONDS, () => resolve(true));
    const end = (wanted: boolean) => (): void => {
      cancel();
      resolve(wanted);
    };
    request.once('continue', end(true)).once('response', end(false)).once('error', end(false));
  });
}

/**
 * Sends a file of a known size, piece by piece, with exactly the given headers and its length. The ending reports every
 * fault. Rejects only with the reason of `signal`.
 */
export async function upload({
  target: { uploadUrl, method, headers },
  size,
  content,
  breaks,
  stall,
  pace,
  signal,
  timers,
}: {
  target: UploadTarget;
  /** Bytes. */
  size: number;
  content: Iterable<Buffer>;
  /** The upload breaks off in the middle, as if a memory card were pulled out. */
  breaks: boolean;
  /** An attempt fails after so many milliseconds in which the server took no piece, or gave no answer. */
  stall: number;
  /** Waits as long as the network of the device needs for so many bytes. */
  pace?: Patience['pace'];
  signal: AbortSignal;
  timers: Timers;
}): Promise<UploadEnding> {
  signal.throwIfAborted();
  const stalled = new AbortController();
  const watch = (): (() => void) => timers.after(stall, () => stalled.abort(new Error('nothing was taken any more')));
  let unwatch = watch();
  const hash = createHash('sha256');

  async function* pieces(): AsyncGenerator<Buffer> {
    let left = breaks ? Math.floor(size / 2) : size;
    for (const piece of content) {
      unwatch();
      await pace?.(piece.length, signal);
      unwatch = watch();
      const sent = piece.subarray(0, left);
      hash.update(sent);
      yield sent;
      left -= sent.length;
      if (breaks && left === 0) throw new Error('the file cannot be read to its end');
    }
  }

  try {
    const request = (uploadUrl.startsWith('https:') ? requestHttps : requestHttp)(uploadUrl, {
      method,
      headers: { ...headers, 'content-length': size, expect: '100-continue' },
      signal: AbortSignal.any([signal, stalled.signal]),
    });
    // Without a listener, an error that comes when no caller waits any more would end the process.
    request.on('error', () => {});
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => {});
    request.flushHeaders();
    // A server may also answer in the middle of the file.
    if (await invited(request, timers)) await Promise.race([answered, pipeline(Readable.from(pieces()), request)]);
    const [response] = await answered;
    response.resume();
    const result = ending(response.statusCode ?? 0, hash.digest(), response.headers[STORED_SHA256]);
    if (result.kind !== 'done') request.destroy();
    return result;
  } catch (error) {
    signal.throwIfAborted();
    const { message, code } = (stalled.signal.aborted ? stalled.signal.reason : error) as Error & { code?: string };
    return { kind: 'again', why: message || code || 'the connection broke' };
  } finally {
    unwatch();
  }
}
