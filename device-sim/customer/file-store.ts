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

/** What is known of a file that came: its content is not kept. */
export interface StoredFile {
  readonly size: number;
  readonly sha256: string;
}

const VALID_MILLISECONDS = 300_000;
const KEPT = 10_000;

/** Where a customer keeps recordings and files: takes uploads by URLs that it has signed, each for one file of one size. */
export interface FileStore {
  /** What the service wants of fileUploadGetUrl, and for each file of callRecGetMultiPresignedUrl. */
  presign(file: WantedFile): { name: string; uploadUrl: string; method: 'PUT'; expiresAt: string };
  /** The status for a PUT to a URL of `presign`. Reads the body to its end, after an invitation, unless that is refused. */
  receive(request: IncomingMessage, invite: () => void): Promise<number>;
  /** What came under a name; undefined when nothing did, or when that is long ago. */
  find(name: string): StoredFile | undefined;
  readonly files: number;
  readonly bytes: number;
}

/** `base`: the address of the store for devices, with the path that its files are below. */
export function createFileStore({ base, now = Date.now }: { base: () => string; now?: () => number }): FileStore {
  const key = randomBytes(32);
  const stored = new Map<string, StoredFile>();
  let files = 0;
  let bytes = 0;

  const sign = (name: string, size: number, until: number): Buffer =>
    createHmac('sha256', key).update(`${until}/${size}/${name}`).digest();

  /** Whether the URL is one of `presign` that still holds. */
  function isGood(name: string, { searchParams }: URL): boolean {
    const [size, until] = [Number(searchParams.get('size')), Number(searchParams.get('until'))];
    // A signature is for the whole of it.
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
