import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Clock } from '../../runtime/clock.ts';
import { loadLate } from '../../runtime/late-load.ts';
import { namesClock } from './wrong-time.ts';

export type ObjectStore = ReturnType<typeof createObjectStore>;

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

interface ObjectStoreParts {
  /** The address at which the service itself reaches the store. */
  endpoint: string;
  /**
   * The address at which developers and devices reach the store, when it is another one (a proxy that passes `Host` on
   * unchanged).
   */
  publicEndpoint?: string;
  region: string;
  bucket: string;
  /** Without credentials, the AWS credential chain is used. A function tells those of each signature. */
  credentials?: Credentials | (() => Credentials);
  /** Whether the store's ETags are the SHA-256 of its objects, as in the embedded store. */
  etagsAreSha256?: boolean;
  /** Lists the objects of a store that has no ListObjectsV2, as the embedded one. */
  listing?(prefix: string): AsyncIterable<{ key: string; size: number; uploadedAt: number }[]>;
  clock: Clock;
  /**
   * Bounds of one operation: milliseconds for the whole operation and for its connection (0: no separate bound), the number
   * of attempts within them, and the number of objects in a page of a listing.
   */
  limits?: { deadlineMs?: number; connectMs?: number; attempts?: number; listed?: number };
}

export interface StoredObject {
  /** Bytes. */
  size: number;
  /** Microseconds since the epoch, in whole seconds, since stores keep no fractions. */
  uploadedAt: number;
  /** The ETag as the store wrote it, with its quotes. */
  etag: string;
  /** The SHA-256 of the object in hexadecimal; present only if the ETags of the store are SHA-256 digests. */
  sha256?: string;
}

/** Aborting the signal ends the operation before its deadline, as a failure. */
interface Ended {
  signal?: AbortSignal;
}

export interface UploadUrl {
  url: string;
  /** The URL is valid from `startTimestamp` to `endTimestamp`, both in Unix seconds. */
  startTimestamp: number;
  endTimestamp: number;
  /** How long the URL is valid, in seconds. */
  expireIn: number;
}

/**
 * A client of any S3-compatible store, the embedded one included, so that there is one code path. Presigning is computed
 * here, without a request. Each other operation ends within the deadline, and throws OBJECT_STORE_UNAVAILABLE (with the
 * store's own error as cause) when it fails.
 */
export function createObjectStore(parts: ObjectStoreParts) {
  const { bucket: Bucket, clock, limits = {} } = parts;
  const { deadlineMs = 8_000, connectMs = 2_000, attempts = 3, listed = 1000 } = limits;
  const bounds = { deadlineMs, connectMs, attempts };
  let opened: ReturnType<typeof open> | undefined;

  function open() {
    const sdk = loadSdk();
    const client = createClient(sdk, parts, parts.endpoint, bounds);
    // The client that only signs URLs. It has the public address, and makes no connection.
    const signing = parts.publicEndpoint ? createClient(sdk, parts, parts.publicEndpoint, bounds) : client;
    /** For HEAD and DELETE: a missing object is an answer, not an error. A missing bucket is an error. */
    function absent(error: unknown): undefined {
      const missing = ['NotFound', 'NoSuchKey'];
      if (error instanceof sdk.s3.S3ServiceException && missing.includes(error.name)) return undefined;
      throw error;
    }
    return { ...sdk, client, signing, absent };
  }

  /** The SDK is large, so it is loaded when an object is touched for the first time. */
  function used(): ReturnType<typeof open> {
    try {
      opened ??= open();
      return opened;
    } catch (cause) {
      throw new DomainError('OBJECT_STORE_UNAVAILABLE', { cause });
    }
  }

  /**
   * Runs `work` with an abort signal that fires at the deadline (measured by `clock`), or together with the given signal.
   */
  async function within<Result>(
    work: (options: { abortSignal: AbortSignal }) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const deadline = new AbortController();
    const cancel = clock.after(deadlineMs, () => deadline.abort(new Error(`no answer within ${deadlineMs} ms`)));
    try {
      return await work({ abortSignal: signal ? AbortSignal.any([deadline.signal, signal]) : deadline.signal });
    } catch (thrown) {
      throw new DomainError('OBJECT_STORE_UNAVAILABLE', { cause: namesClock(thrown, clock.wall()) });
    } finally {
      cancel();
    }
  }

  const signingDate = (): Date => new Date(Math.floor(clock.wall() / 1_000_000) * 1000);

  return {
    /**
     * Makes a URL for one PUT of the object (ops 22 and 23). `contentLength` (bytes), when given, is signed: the store
     * refuses a PUT of another length. `expiresIn` is in seconds. The URL can be used again while it is valid, even after
     * the object was removed; the object then exists again.
     */
    async uploadUrl(key: string, options: { contentLength?: number; expiresIn: number }): Promise<UploadUrl> {
      const { contentLength: ContentLength, expiresIn } = options;
      const date = signingDate();
      const { s3, presigner, signing } = used();
      const command = new s3.PutObjectCommand({
        Bucket,
        Key: key,
        ...(ContentLength !== undefined && { ContentLength }),
      });
      const url = await presigner.getSignedUrl(signing, command, { expiresIn, signingDate: date });
      const startTimestamp = date.getTime() / 1000;
      return { url, startTimestamp, endTimestamp: startTimestamp + expiresIn, expireIn: expiresIn };
    },

    /** Makes a URL for GET, also of ranges. `expiresIn` is in seconds, `expiresAt` in microseconds. */
    async downloadUrl(key: string, options: { expiresIn: number }): Promise<{ url: string; expiresAt: number }> {
      const { expiresIn } = options;
      const date = signingDate();
      const { s3, presigner, signing } = used();
      const command = new s3.GetObjectCommand({ Bucket, Key: key });
      const url = await presigner.getSignedUrl(signing, command, { expiresIn, signingDate: date });
      return { url, expiresAt: (date.getTime() + expiresIn * 1000) * 1000 };
    },

    /** Asks the store for the size, the time and the ETag of the object; undefined when the object does not exist. */
    head: (key: string, { signal }: Ended = {}): Promise<StoredObject | undefined> =>
      within(async (options) => {
        const { s3, client, absent } = used();
        const found = await client.send(new s3.HeadObjectCommand({ Bucket, Key: key }), options).catch(absent);
        if (!found) return undefined;
        const { ContentLength: size, LastModified: at, ETag: etag } = found;
        if (size === undefined || !at || !etag) throw new Error('the store answered HEAD without size, date or ETag');
        const digest = parts.etagsAreSha256 ? { sha256: etag.slice(1, -1) } : {};
        return { size, uploadedAt: at.getTime() * 1000, etag, ...digest };
      }, signal),

    /**
     * Reads bytes `start` to `end`, both included; fewer when the object ends before. Meant for small parts, since all
     * bytes are held in memory.
     */
    read: (key: string, start: number, end: number, { signal }: Ended = {}): Promise<Buffer> =>
      within(async ({ abortSignal }) => {
        const { s3, client } = used();
        const command = new s3.GetObjectCommand({ Bucket, Key: key, Range: `bytes=${start}-${end}` });
        const { Body, ContentRange, ContentLength } = await client.send(command, { abortSignal });
        // A store without support for ranges would send the whole object.
        if (!Body || !ContentRange?.startsWith(`bytes ${start}-`) || (ContentLength ?? Infinity) > end - start + 1) {
          (Body as { destroy?(): void } | undefined)?.destroy?.();
          throw new Error(`the store did not answer with the range that was asked for (${ContentRange})`);
        }
        return Buffer.from(await Body.transformToByteArray());
      }, signal),

    /** Streams the object if it has this ETag. The deadline holds for each chunk, not for the whole. */
    async *stream(key: string, { etag, signal }: { etag: string } & Ended): AsyncGenerator<Uint8Array> {
      const { Body } = await within(async (options) => {
        const { s3, client } = used();
        return client.send(new s3.GetObjectCommand({ Bucket, Key: key, IfMatch: etag }), options);
      }, signal);
      const body = Body as (AsyncIterable<Uint8Array> & { destroy(error?: Error): void }) | undefined;
      if (!body) throw new DomainError('OBJECT_STORE_UNAVAILABLE');
      const watch = () => clock.after(deadlineMs, () => body.destroy(new Error(`nothing came for ${deadlineMs} ms`)));
      let unwatch = watch();
      const end = (): void => body.destroy(new Error('the reader has stopped'));
      signal?.addEventListener('abort', end);
      if (signal?.aborted) end();
      try {
        for await (const chunk of body) {
          unwatch();
          yield chunk;
          unwatch = watch();
        }
      } catch (cause) {
        throw new DomainError('OBJECT_STORE_UNAVAILABLE', { cause });
      } finally {
        unwatch();
        signal?.removeEventListener('abort', end);
        body.destroy();
      }
    },

    /** Removes the object; succeeds when it does not exist. */
    remove: (key: string): Promise<void> =>
      within(async (options) => {
        const { s3, client, absent } = used();
        await client.send(new s3.DeleteObjectCommand({ Bucket, Key: key }), options).catch(absent);
      }),

    /** Lists the objects whose keys begin with `prefix`, in pages. */
    async *list(prefix: string): AsyncGenerator<{ key: string; size: number; uploadedAt: number }[]> {
      if (parts.listing) {
        yield* parts.listing(prefix);
        return;
      }
      for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
        const { s3, client } = used();
        const part = { Bucket, Prefix: prefix, MaxKeys: listed, ContinuationToken: token };
        const command = new s3.ListObjectsV2Command(part);
        const page = await within((options) => client.send(command, options));
        yield (page.Contents ?? []).flatMap(({ Key: key, Size: size = 0, LastModified: at }) =>
          key !== undefined && at ? [{ key, size, uploadedAt: at.getTime() * 1000 }] : [],
        );
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      }
    },

    async [Symbol.asyncDispose](): Promise<void> {
      opened?.client.destroy();
      opened?.signing.destroy();
    },
  };
}

// A request that waits for a free connection counts in the SDK as one that cannot connect, and fails. So many
// connections are allowed.
const AGENT = { keepAlive: true, maxSockets: 256, maxFreeSockets: 32, timeout: 30_000 };

const loadSdk = () => ({
  s3: loadLate('@aws-sdk/client-s3') as typeof import('@aws-sdk/client-s3'),
  presigner: loadLate('@aws-sdk/s3-request-presigner') as typeof import('@aws-sdk/s3-request-presigner'),
  signature: loadLate('@smithy/signature-v4') as typeof import('@smithy/signature-v4'),
});

/** The SDK remembers credentials until they expire, so those that can change have always expired. */
const changing = (credentials: () => Credentials) => async () => ({ ...credentials(), expiration: new Date(0) });

function createClient(
  { s3, signature }: ReturnType<typeof loadSdk>,
  { region, credentials, clock }: ObjectStoreParts,
  endpoint: string,
  { deadlineMs, connectMs, attempts }: { deadlineMs: number; connectMs: number; attempts: number },
): S3Client {
  const config: S3ClientConfig = {
    endpoint,
    region,
    ...(credentials && { credentials: typeof credentials === 'function' ? changing(credentials) : credentials }),
    forcePathStyle: true,
    // By default the SDK signs a checksum of an empty body into presigned PUT URLs, so that no file could be uploaded
    // with them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: deadlineMs,
      throwOnRequestTimeout: true,
      httpAgent: AGENT,
      httpsAgent: AGENT,
    },
  };
  const client = new s3.S3Client(config);
  // The SDK would sign with the machine's time; this signer uses the injected clock.
  const signer = new signature.SignatureV4({
    service: 's3',
    region: client.config.region,
    credentials: client.config.credentials,
    sha256: client.config.sha256,
    uriEscapePath: false,
  });
  client.config.signer = async () => ({
    sign: (request, options) => signer.sign(request, { ...options, signingDate: new Date(clock.wall() / 1000) }),
  });
  return client;
}
