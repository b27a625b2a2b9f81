import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { remember } from '../bounded-map.ts';

/** A file that a device has asked an upload URL for. */
export interface WantedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly contentType?: string;
}

/** The facts about a received file; its content is not kept. */
export interface StoredFile {
  readonly size: number;
  readonly sha256: string;
}

const VALID_MILLISECONDS = 300_000;
const KEPT = 10_000;

/** The file store of a customer. It takes uploads by URLs that it has signed, each for one file of one size. */
export interface FileStore {
  /** The answer for fileUploadGetUrl, and for each file of callRecGetMultiPresignedUrl. */
  presign(file: WantedFile): { name: string; uploadUrl: string; method: 'PUT'; expiresAt: string };
  /**
   * Takes a PUT to a URL of `presign`; resolves to the HTTP status of the answer. Calls `invite` (which sends "100
   * Continue") before it reads the body; an upload that it refuses gets no invitation.
   */
  receive(request: IncomingMessage, invite: () => void): Promise<number>;
  /**
   * The file that was uploaded under a name; undefined if there is none, or if ten thousand files were uploaded after
   * it.
   */
  find(name: string): StoredFile | undefined;
  readonly files: number;
  readonly bytes: number;
}

/** `base` is the address of the store for devices, with the path of its files. */
export function createFileStore({ base, now = Date.now }: { base: () => string; now?: () => number }): FileStore {
  const key = randomBytes(32);
  const stored = new Map<string, StoredFile>();
  let files = 0;
  let bytes = 0;

  const sign = (name: string, size: number, until: number): Buffer =>
    createHmac('sha256', key).update(`${until}/${size}/${name}`).digest();

  /** Whether `presign` made this URL, and the URL is still valid. */
  function isGood(name: string, { searchParams }: URL): boolean {
    const [size, until] = [Number(searchParams.get('size')), Number(searchParams.get('until'))];
    // The signature covers only these three parameters, so a URL with any other parameter is refused.
    if ([...searchParams.keys()].some((name) => !['size', 'until', 'signature'].includes(name))) return false;
    const given = Buffer.from(searchParams.get('signature') ?? '', 'hex');
    const wanted = sign(name, size, until);
    return given.length === wanted.length && timingSafeEqual(given, wanted) && now() < until;
  }

  return {
    presign({ name, size }) {
      const until = now() + VALID_MILLISECONDS;
      const query = new URLSearchParams({
        size: String(size),
        until: String(until),
        signature: sign(name, size, until).toString('hex'),
      });
      return {
        name,
        uploadUrl: `${base()}/${encodeURIComponent(name)}?${query.toString()}`,
        method: 'PUT',
        expiresAt: new Date(until).toISOString(),
      };
    },

    async receive(request, invite) {
      const url = new URL(request.url ?? '/', 'http://store');
      const name = decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
      if (request.method !== 'PUT') return 405;
      if (!isGood(name, url)) return 403;
      const size = Number(url.searchParams.get('size'));
      if (Number(request.headers['content-length']) !== size) return 400;
      invite();
      const hash = createHash('sha256');
      let length = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) {
        length += chunk.length;
        hash.update(chunk);
      }
      if (length !== size) return 400;
      remember(stored, name, { size, sha256: hash.digest('hex') }, KEPT);
      files += 1;
      bytes += size;
      return 200;
    },

    find: (name) => stored.get(name),
    get files() {
      return files;
    },
    get bytes() {
      return bytes;
    },
  };
}
