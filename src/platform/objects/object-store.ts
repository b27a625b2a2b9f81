import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { SignatureV4 } from '@smithy/signature-v4';
import { DomainError } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';

export type ObjectStore = ReturnType<typeof createObjectStore>;

interface ObjectStoreParts {
  /** Where the service itself reaches the store. */
  endpoint: string;
  /** Where developers and devices reach it, when that is another address (a proxy that passes `Host` on unchanged). */
  publicEndpoint?: string;
  region: string;
  bucket: string;
  /** Without them: the AWS credential chain. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** The ETags of the store are the SHA-256 of its objects, as those of the embedded one are. */
  etagsAreSha256?: boolean;
  /** How a store lists its objects that has no such operation. */
  listing?(prefix: string): AsyncIterable<{ key: string; size: number; uploadedAt: number }[]>;
  clock: Clock;
  /**
   * Bounds of one operation: milliseconds of the whole of it and of its connection (0: no bound of its own), attempts within
   * them, and objects in a page of a list.
   */
  limits?: { deadlineMs?: number; connectMs?: number; attempts?: number; listed?: number };
}

export interface StoredObject {
  /** Bytes. */
  size: number;
  /** Microseconds since the epoch; stores keep whole seconds. */
  uploadedAt: number;
  /** With its quotes, as the store wrote it. */
  etag: string;
  /** Hexadecimal; only where the store says so by itself. */
  sha256?: string;
}

/** Ends an operation before its deadline: it fails then. */
interface Ended {
  signal?: AbortSignal;
}

export interface UploadUrl {
  url: string;
  /** Unix seconds. */
  startTimestamp: number;
  endTimestamp: number;
  /** Seconds. */
  expireIn: number;
}

/**
 * Any S3-compatible store, the embedded one included: there is one code path. Presigning asks nobody. Everything else
 * ends within the deadline, and throws OBJECT_STORE_UNAVAILABLE (with the store's own error as cause) when it fails.
 */
export function createObjectStore(parts: ObjectStoreParts) {
  const { bucket: Bucket, clock, limits = {} } = parts;
  const { deadlineMs = 8_000, connectMs = 2_000, attempts = 3, listed = 1000 } = limits;
  const bounds = { deadlineMs, connectMs, attempts };
  const client = createClient(parts, parts.endpoint, bounds);
  // Presigning makes no connection: this client only knows another address.
  const signing = parts.publicEndpoint ? createClient(parts, parts.publicEndpoint, bounds) : client;

  /** Runs `work` with a signal that ends it at the deadline, or with the given one; `clock` is the one that counts. */
  async function within<Result>(
    work: (options: { abortSignal: AbortSignal }) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const deadline = new AbortController();
    const cancel = clock.after(deadlineMs, () => deadline.abort(new Error(`no answer within ${deadlineMs} ms`)));
    try {
      return await work({ abortSignal: signal ? AbortSignal.any([deadline.signal, signal]) : deadline.signal });
    } catch (cause) {
      throw new DomainError('OBJECT_STORE_UNAVAILABLE', { cause });
    } finally {
      cancel();
    }
  }

  const signingDate = (): Date => new Date(Math.floor(clock.now() / 1_000_000) * 1000);

  return {
    /**
     * A URL for one PUT of the object (ops 22 and 23). `contentLength` (bytes), when given, is signed: a PUT with another is
     * refused. `expiresIn` in seconds. The same URL can be used again while it is valid: also after the object was removed,
     * and then makes it anew.
     */
    async uploadUrl(key: string, options: { contentLength?: number; expiresIn: number }): Promise<UploadUrl> {
      const { contentLength: ContentLength, expiresIn } = options;
      const date = signingDate();
      const command = new PutObjectCommand({
        Bucket,
        Key: key,
        ...(ContentLength !== undefined && { ContentLength }),
      });
      const url = await getSignedUrl(signing, command, { expiresIn, signingDate: date });
      const startTimestamp = date.getTime() / 1000;
      return { url, startTimestamp, endTimestamp: startTimestamp + expiresIn, expireIn: expiresIn };
    },

    /** A URL for GET, also of ranges. `expiresIn` in seconds; `expiresAt` in microseconds. */
    async downloadUrl(key: string, options: { expiresIn: number }): Promise<{ url: string; expiresAt: number }> {
      const { expiresIn } = options;
      const date = signingDate();
      const command = new GetObjectCommand({ Bucket, Key: key });
      const url = await getSignedUrl(signing, command, { expiresIn, signingDate: date });
      return { url, expiresAt: (date.getTime() + expiresIn * 1000) * 1000 };
    },

    /** What is stored under the key, asked afresh; undefined when there is nothing. */
    head: (key: string, { signal }: Ended = {}): Promise<StoredObject | undefined> =>
      within(async (options) => {
        const found = await client.send(new HeadObjectCommand({ Bucket, Key: key }), options).catch(absent);
        if (!found) return undefined;
        const { ContentLength: size, LastModified: at, ETag: etag } = found;
        if (size === undefined || !at || !etag) throw new Error('the store answered HEAD without size, date or ETag');
        const digest = parts.etagsAreSha256 ? { sha256: etag.slice(1, -1) } : {};
        return { size, uploadedAt: at.getTime() * 1000, etag, ...digest };
      }, signal),

    /**
     * Bytes `start` to `end`, both included; fewer when the object ends before. Meant for small parts: all is held in
     * memory.
     */
    read: (key: string, start: number, end: number, { signal }: Ended = {}): Promise<Buffer> =>
      within(async ({ abortSignal }) => {
        const command = new GetObjectCommand({ Bucket, Key: key, Range: `bytes=${start}-${end}` });
        const { Body, ContentRange, ContentLength } = await client.send(command, { abortSignal });
        // A store that does not know ranges would send the whole file.
        if (!Body || !ContentRange?.startsWith(`bytes ${start}-`) || (ContentLength ?? Infinity) > end - start + 1) {
          (Body as { destroy?(): void } | undefined)?.destroy?.();
          throw new Error(`the store did not answer with the range that was asked for (${ContentRange})`);
        }
        return Buffer.from(await Body.transformToByteArray());
      }, signal),

    /** All bytes of the object with that ETag, as they come; the deadline is that of each chunk. */
    async *stream(key: string, { etag, signal }: { etag: string } & Ended): AsyncGenerator<Uint8Array> {
      const { Body } = await within(
        (options) => client.send(new GetObjectCommand({ Bucket, Key: key, IfMatch: etag }), options),
        signal,
      );
      const body = Body as (AsyncIterable<Uint8Array> & { destroy(error?: Error): void }) | undefined;
      if (!body) throw new DomainError('OBJECT_STORE_UNAVAILABLE');
      const watch = () => clock.after(deadlineMs, () => body.destroy(new Error(`nothing came for ${deadlineMs} ms`)));
      let unwatch = watch();
      const end = (): void => body.destroy(new Error('nobody wants it any more'));
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

    /** Nothing happens when there is nothing under the key. */
    remove: (key: string): Promise<void> =>
      within(async (options) => {
        await client.send(new DeleteObjectCommand({ Bucket, Key: key }), options).catch(absent);
      }),

    /** All objects whose keys begin so, in pages. */
    async *list(prefix: string): AsyncGenerator<{ key: string; size: number; uploadedAt: number }[]> {
      if (parts.listing) {
        yield* parts.listing(prefix);
        return;
      }
      for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
        const command = new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: listed, ContinuationToken: token });
        const page = await within((options) => client.send(command, options));
        yield (page.Contents ?? []).flatMap(({ Key: key, Size: size = 0, LastModified: at }) =>
          key !== undefined && at ? [{ key, size, uploadedAt: at.getTime() * 1000 }] : [],
        );
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      }
    },

    async [Symbol.asyncDispose](): Promise<void> {
      client.destroy();
      signing.destroy();
    },
  };
}

// A request that waits for a connection of others counts as one that cannot be made.
const AGENT = { keepAlive: true, maxSockets: 256 };

function createClient(
  { region, credentials, clock }: ObjectStoreParts,
  endpoint: string,
  { deadlineMs, connectMs, attempts }: { deadlineMs: number; connectMs: number; attempts: number },
): S3Client {
  const config: S3ClientConfig = {
    endpoint,
    region,
    ...(credentials && { credentials }),
    forcePathStyle: true,
    // Otherwise presigned PUT URLs carry the checksum of an empty body.
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
  const client = new S3Client(config);
  // The SDK would sign with the machine's time; ours is the injected one.
  const signer = new SignatureV4({
    service: 's3',
    region: client.config.region,
    credentials: client.config.credentials,
    sha256: client.config.sha256,
    uriEscapePath: false,
  });
  client.config.signer = async () => ({
    sign: (request, options) => signer.sign(request, { ...options, signingDate: new Date(clock.now() / 1000) }),
  });
  return client;
}

/** For HEAD and DELETE: a thing that is not there is an answer and no error. A bucket that is not there is one. */
function absent(error: unknown): undefined {
  const missing = ['NotFound', 'NoSuchKey'];
  if (error instanceof S3ServiceException && missing.includes(error.name)) return undefined;
  throw error;
}
