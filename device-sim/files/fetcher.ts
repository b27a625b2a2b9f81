import { createHash, type KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Failure } from '../mqtt/messages.ts';
import type { Requests } from '../mqtt/requests.ts';
import type { Random } from '../random.ts';
import type { Timers } from '../timers.ts';
import type { ApkIdentity } from './apk.ts';
import { readApk } from './apk.ts';
import { download, type Passage, type Patience } from './download.ts';
import type { DownloadFolder } from './download-folder.ts';
import { signatureFailure } from './signature.ts';
import { readSource, type Source, type SourceHolder } from './source.ts';

/** A downloaded file: its size, and for an APK its identity. */
export interface DownloadedFile {
  readonly size: number;
  readonly apk: ApkIdentity | undefined;
}

/** Downloads the files that commands name. */
export interface Fetcher {
  /**
   * Downloads a file, reads its identity if it must be an APK, and removes it. Rejects with the reason of `signal` if
   * that is aborted; then, too, no file is left behind.
   */
  fetch(order: {
    transactionId: number;
    kind: 'apk' | 'any';
    source: SourceHolder;
    signal: AbortSignal;
    onProgress: (bytes: number, size: number) => void;
    /** A fault to play on the way. */
    mishap?: string | undefined;
    /** The version that an APK must be signed as, where the device trusts some keys only. */
    name: { readonly package: string; readonly version: string };
  }): Promise<{ file: DownloadedFile | Failure; passage: Passage }>;
}

/** Whether the file has the expected SHA-256. */
async function isMeant(path: string, sha256: string): Promise<boolean> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex') === sha256;
}

async function lookInto(path: string, size: number): Promise<DownloadedFile | Failure> {
  try {
    return { size, apk: await readApk(path) };
  } catch (error) {
    return { code: 'DOWNLOAD_FAILED', message: `the download is no APK: ${(error as Error).message}` };
  }
}

const ANOTHER: Failure = {
  code: 'DOWNLOAD_FAILED',
  message: 'the file is another than the one that was meant (SHA-256)',
};

export function createFetcher({
  deviceId,
  folder,
  requests,
  patience,
  random,
  timers,
  trustedKeys = [],
}: {
  deviceId: string;
  folder: DownloadFolder;
  requests: Requests;
  patience: Patience;
  random: Random;
  timers: Timers;
  /** The keys that must have signed an APK; none: any APK is taken. */
  trustedKeys?: readonly KeyObject[] | undefined;
}): Fetcher {
  async function renew(transactionId: number, signal: AbortSignal): Promise<Source | Failure | undefined> {
    const reply = await requests.ask('softwareDownloadUrl', { transactionId }, signal);
    if (reply === 'timeout' || ('error' in reply && reply.error.code === 'BUSY')) return undefined;
    const fresh =
      'data' in reply ? readSource(reply.data) : `no fresh URL: ${reply.error.code}: ${reply.error.message}`;
    return typeof fresh === 'string' ? { code: 'DOWNLOAD_FAILED', message: fresh } : fresh;
  }

  return {
    async fetch({ transactionId, kind, source, signal, onProgress, mishap, name }) {
      const passage: Passage = { bytes: 0, resumed: 0, renewed: 0 };
      const rejected = (): Failure | undefined =>
        kind === 'apk' && trustedKeys.length > 0 ? signatureFailure(trustedKeys, name, source.current) : undefined;
      // Before the download, to save it; and behind it, because a fresh URL may have brought another file.
      const early = rejected();
      if (early) return { file: early, passage };
      let path: string;
      try {
        path = join(await folder.path(), `${deviceId}-${transactionId}.part`);
      } catch (error) {
        return { file: { code: 'INTERNAL', message: (error as Error).message }, passage };
      }
      try {
        const failure = await download({
          source,
          file: path,
          passage,
          renew: (asking) => renew(transactionId, asking),
          onProgress,
          signal,
          patience,
          random,
          timers,
          mishap,
        });
        if (failure) return { file: failure, passage };
        if (!(await isMeant(path, source.current.sha256))) return { file: ANOTHER, passage };
        const late = rejected();
        if (late) return { file: late, passage };
        const file = kind === 'apk' ? await lookInto(path, passage.bytes) : { size: passage.bytes, apk: undefined };
        signal.throwIfAborted();
        return { file, passage };
      } finally {
        await rm(path, { force: true });
      }
    },
  };
}
