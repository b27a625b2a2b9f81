import { createHash } from 'node:crypto';
import { readSource, type Source } from '../files/source.ts';
import type { Command } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import { differences } from './differences.ts';
import type { Ledger } from './ledger.ts';
import type { Brought, Releases } from './releases.ts';
import { createSample } from './sample.ts';
import { inParallel } from './service-client.ts';

/** The number of URLs that are kept, evenly spread over the run. */
const KEPT = 8;
const PARALLEL_REQUESTS = 4;
/** A larger file is not fetched whole: its first byte is enough to learn its size. */
const MOST_BYTES = 1024 ** 2;
const ANSWER_MILLISECONDS = 10_000;
/**
 * A URL is a little older than its command, because the service signs it first. So this long before its expiry, both
 * answers are right.
 */
const UNSURE_MILLISECONDS = 60_000;
/** The documented validity of a download URL. */
const VALID_MILLISECONDS = 3_600_000;
/** The times of others are compared with this tolerance. */
const CLOCKS_MILLISECONDS = 10_000;

/** A URL of a command, with the time of its arrival. */
interface Kept {
  readonly deviceId: string;
  readonly transactionId: number;
  readonly brought: Brought;
  readonly source: Source;
  readonly at: number;
  /** The validity that the URL states. */
  readonly validMilliseconds: number;
  /** Whether it was asked for before and after its expiry, so that each is done once. */
  readonly asked: { before: boolean; after: boolean };
}

interface Answer {
  readonly status: number;
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
}

/** The validity in a URL with an AWS Signature Version 4; undefined for any other URL. */
function validityOf(url: string): number | undefined {
  const seconds = new URL(url).searchParams.get('X-Amz-Expires') ?? '';
  return /^[1-9]\d{0,5}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

/** The time at which a URL with an AWS Signature Version 4 was signed; undefined if it does not say so. */
function signedAtOf({ searchParams }: URL): number | undefined {
  const [, day, time] = /^(\d{8})T(\d{6})Z$/.exec(searchParams.get('X-Amz-Date') ?? '') ?? [];
  if (day === undefined || time === undefined) return undefined;
  const at = Date.parse(`${day.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** The URL without its query, which has the signature. */
function withoutSignature(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

const REFUSED: Answer = { status: 403 };
/** A server may answer a request for a range with the whole file (RFC 9110 14.2). */
const rightAnswer = ({ size, sha256 }: Source, { status }: Answer): Answer =>
  size > MOST_BYTES ? { status: status === 200 ? 200 : 206, size } : { status: 200, size, sha256 };

/** Asks for the file, or for the first byte of a large one. Undefined if the store is busy or away. */
async function ask({ url, size: expected }: Source): Promise<Answer | undefined> {
  try {
    const range = expected > MOST_BYTES ? { range: 'bytes=0-0' } : {};
    const headers = { 'accept-encoding': 'identity', ...range };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
    const { status } = response;
    if (status === 206) {
      await response.body?.cancel();
      return { status, size: Number(response.headers.get('content-range')?.split('/')[1]) };
    }
    const length = Number(response.headers.get('content-length'));
    if (status !== 200 || length > MOST_BYTES) {
      await response.body?.cancel();
      if (status === 200) return { status, size: length };
      return status === 429 || status >= 500 ? undefined : { status };
    }
    const bytes = await response.bytes();
    return { status, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  } catch {
    return undefined;
  }
}

/**
 * Keeps some of the URLs that devices get, and asks for them again at the end of a run: a URL must yield its file until
 * it expires, and must be refused from then on. Only files that this run has brought, and that are still offered, are
 * judged, because somebody else may replace or remove the others.
 */
export function createLateDownloads({
  releases,
  ledger,
  timers,
}: {
  releases: Pick<Releases, 'broughtBy' | 'isOffered'>;
  ledger: Pick<Ledger, 'wrong' | 'actionOf' | 'look' | 'violated'>;
  timers: Timers;
}) {
  const sample = createSample<Kept>(KEPT);

  /** The files that were brought since then may be gone, because the service was restored from a backup. */
  let lost: { readonly from: number; readonly to: number } | undefined;

  async function compare({ deviceId, transactionId, brought, source, ...kept }: Kept): Promise<void> {
    if (lost && kept.at >= lost.from && kept.at <= lost.to) return;
    const age = timers.now() - kept.at;
    const isExpired = age >= kept.validMilliseconds;
    const when = isExpired ? 'after' : 'before';
    if (kept.asked[when] || (!isExpired && age >= kept.validMilliseconds - UNSURE_MILLISECONDS)) return;
    kept.asked[when] = true;
    const answer = await ask(source);
    if (!answer) return;
    ledger.look(isExpired ? 'url-expired' : 'url-valid');
    const right = isExpired ? REFUSED : rightAnswer(source, answer);
    const ofStatus = differences('answer.status', right.status, answer.status);
    // The body of an answer with another status is no file.
    const found = ofStatus.length > 0 ? ofStatus : differences('answer', right, answer);
    if (found.length === 0 || !(await releases.isOffered(brought))) return;
    const phase = ledger.actionOf(transactionId)?.phase;
    const text = `the answer to the download URL ${withoutSignature(source.url)} of transaction ${transactionId} of device ${deviceId}, ${when} its expiry,`;
    ledger.wrong({ text, deviceId, transactionId, ...(phase !== undefined && { phase }) }, found, timers.now());
  }

  /** A URL is good for the documented hour, and both the URL and the command must say so. */
  function judgeValidity(
    deviceId: string,
    { transactionId, parameters }: Pick<Command, 'transactionId' | 'parameters'>,
    valid: number | undefined,
  ): void {
    ledger.look('url-hour');
    const url = new URL(String(parameters['url']));
    const signedAt = signedAtOf(url);
    const said = Date.parse(String(parameters['expiresAt']));
    const phase = ledger.actionOf(transactionId)?.phase;
    const about = { deviceId, transactionId, ...(phase !== undefined && { phase }) };
    const breach = (text: string): void =>
      ledger.violated(about, `the download URL of command ${transactionId} ${text}`, timers.now());
    if (valid !== undefined && valid !== VALID_MILLISECONDS)
      breach(`is good for ${valid / 1000} s, and the documents say ${VALID_MILLISECONDS / 1000} s`);
    else if (
      valid !== undefined &&
      signedAt !== undefined &&
      !(Math.abs(said - signedAt - valid) <= CLOCKS_MILLISECONDS)
    )
      breach(
        `ends at ${new Date(signedAt + valid).toISOString()}, and \`expiresAt\` says ${String(parameters['expiresAt'])}`,
      );
  }

  return {
    /** To be called with each command of a device. */
    keep(deviceId: string, { transactionId, operation, parameters }: Command): void {
      const brought = releases.broughtBy(operation, parameters);
      const source = brought && readSource(parameters);
      if (!brought || !source || typeof source === 'string') return;
      const validMilliseconds = validityOf(source.url);
      judgeValidity(deviceId, { transactionId, parameters }, validMilliseconds);
      if (validMilliseconds === undefined) return;
      const asked = { before: false, after: false };
      sample.add({ deviceId, transactionId, brought, source, at: timers.now(), validMilliseconds, asked });
    },
    /** The service has lost what it has stored since `from`. */
    restored(from: number): void {
      lost = { from: Math.min(from, lost?.from ?? from), to: timers.now() };
    },
    /** Asks for the kept URLs, and compares the answers with the right ones. */
    async ask(): Promise<void> {
      await inParallel(sample.all(), PARALLEL_REQUESTS, compare);
    },
  };
}
