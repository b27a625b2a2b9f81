import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { createObjectFiles } from './object-files.ts';
import { readUpload, receiveObject } from './receive-object.ts';
import { createSignatureCheck, readDate } from './request-signature.ts';
import { S3Error } from './s3-error.ts';
import { readTarget, type S3Target } from './s3-target.ts';
import { sendObject } from './send-object.ts';
import { createTransfers, type Transfers } from './transfers.ts';

/** The bounds of the operations on objects. */
export interface OperationLimits {
  /** The most bytes of one object: 5 GB as in S3 (ops 22 and 23). */
  objectBytes: number;
  /**
   * The most uploads and downloads at a time. When all are taken, a slow one is cut, or the new one is answered 503
   * SlowDown; see createTransfers.
   */
  uploads: number;
  downloads: number;
  /** The most uploads of one object at a time; one more cuts the slowest of them. */
  uploadsOfObject: number;
  /** Bytes of the disk that uploads leave free, because the database is on it too. */
  reservedBytes: number;
}

/** The rules of the owners of objects. */
export interface ObjectRules {
  /** The owner of an object; owners share the transfers fairly. By default all objects have the same owner. */
  ownerOf?(key: string): Promise<string>;
  /**
   * When the distribution of an object to devices began, in microseconds; null (the default) when it is not
   * distributed.
   */
  distributedSince?(key: string): Promise<number | null>;
  /** Whether the owner's quota allows an upload of this many bytes. By default it does. */
  admits?(key: string, bytes: number): Promise<boolean>;
}

interface Parts extends ObjectRules {
  region: string;
  bucket: string;
  clock: Clock;
  metrics: Metrics;
  limits: OperationLimits;
  files: ReturnType<typeof createObjectFiles>;
  /** Resolves when a block may be hashed or written, or a signature verified. */
  turn(): Promise<void>;
  /** The keys that may have signed a request. */
  accepted: Parameters<typeof createSignatureCheck>[0]['accepted'];
}

/** A request and its answer. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Whether the service itself made the request. */
  own: boolean;
  /** Whether the client may already be sending its body: it sent no `Expect: 100-continue`, or was told to go on. */
  continued: boolean;
  /** Sends `100 Continue` to a client that waits for it before it sends its body. */
  proceed(): void;
}

/** Microseconds. The date in a signature has whole seconds, so a URL may be up to a second younger than its date says. */
const SIGNATURE_PRECISION_MICROS = 1_000_000;
// Any other query parameter or x-amz- header asks for a feature that this store lacks.
const KNOWN_QUERY = /^(?:x-id|X-Amz-(?:Algorithm|Content-Sha256|Credential|Date|Expires|Signature|SignedHeaders))$/;
const KNOWN_HEADER = /^(?!x-amz-)|^x-amz-(?:content-sha256|date|user-agent)$/;

/** Carries out signed requests: PUT, GET with ranges, HEAD and DELETE of objects, and HEAD of the bucket. */
export function createObjectOperations(parts: Parts) {
  const { region, bucket, clock, metrics, limits, files, turn, accepted, ownerOf = async () => '' } = parts;
  const { distributedSince = async () => null, admits = async () => true } = parts;
  const signatures = createSignatureCheck({ accepted, region, clock });
  /** Bytes that running uploads have declared but not written yet. */
  let promised = 0;

  const createSlots = (bound: 'uploads' | 'downloads', perKey: number): Transfers =>
    createTransfers({
      clock,
      limits: { total: limits[bound], perKey },
      refused: (why) => metrics.objectsRefused.inc({ bound: why === 'total' ? bound : `${bound}_${why}` }),
    });
  const uploads = createSlots('uploads', limits.uploadsOfObject);
  const downloads = createSlots('downloads', Number.POSITIVE_INFINITY);

  /**
   * Runs an upload or download of a client within the limits for its kind. Transfers of the service itself have no
   * limit, so that clients cannot keep the service from its objects.
   */
  async function inSlot<Result>(
    slots: Transfers,
    { own, response }: Exchange,
    key: string,
    work: (moved: (bytes: number) => void) => Promise<Result>,
  ): Promise<Result> {
    if (own) return work(() => undefined);
    const slot = slots.admit(await ownerOf(key), key, () => response.destroy());
    try {
      return await work(slot.moved);
    } finally {
      slot.end();
    }
  }

  /**
   * An object that is distributed to devices may only be replaced through a URL that was made after its distribution began.
   */
  async function checkAge(key: string, { query }: S3Target): Promise<void> {
    const date = query.get('X-Amz-Date');
    const since = date === null ? null : await distributedSince(key);
    if (since === null || since < readDate(date!) + SIGNATURE_PRECISION_MICROS || !(await files.has(key))) return;
    throw new S3Error('AccessDenied', 'The URL is older than the distribution of the object; ask for another one.');
  }

  async function put(exchange: Exchange, target: S3Target, sha256: string | undefined): Promise<void> {
    const { key } = target;
    const { request, response } = exchange;
    const upload = readUpload(key, request, sha256, limits.objectBytes);
    await checkAge(key, target);
    await inSlot(uploads, exchange, key, async (moved) => {
      let left = upload.size;
      promised += left;
      try {
        if ((await files.free()) < promised + limits.reservedBytes) {
          metrics.objectsRefused.inc({ bound: 'disk' });
          throw new S3Error('InsufficientStorage', 'The disk is full.');
        }
        if (!(await admits(key, upload.size))) {
          metrics.objectsRefused.inc({ bound: 'quota' });
          throw new S3Error('InsufficientStorage', 'The developer may have no more bytes of binaries.');
        }
        exchange.proceed();
        const onBytes = (count: number): void => {
          left -= count;
          promised -= count;
          moved(count);
          metrics.objectBytes.inc({ direction: 'in' }, count);
        };
        const whole = (): Promise<void> => checkAge(key, target);
        const { etag } = await receiveObject({ files, clock, turn }, upload, request, onBytes, whole);
        response.writeHead(200, { ETag: etag, 'Content-Length': 0 }).end();
      } finally {
        promised -= left;
      }
    });
  }

  /** Carries out a request. Throws S3Error when it is refused. */
  async function serve(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const { method = '', headers } = request;
    if ((request.headersDistinct.host?.length ?? 0) > 1) {
      throw new S3Error('InvalidArgument', 'The host must be given once.'); // RFC 9112 3.2
    }
    const target: S3Target = readTarget(request.url ?? '');
    await turn(); // a thousand requests that arrive together are not verified in one turn of the event loop
    const sha256 = await signatures.check({ method, target, headers });
    for (const [names, known] of [
      [target.query.keys(), KNOWN_QUERY],
      [Object.keys(headers), KNOWN_HEADER],
    ] as const) {
      for (const name of names) {
        if (!known.test(name)) throw new S3Error('NotImplemented', `${name} is not implemented.`);
      }
    }
    const { key } = target;
    if (target.bucket !== bucket) throw new S3Error('NoSuchBucket', 'The specified bucket does not exist.');
    if (key === '') {
      if (method !== 'HEAD') throw new S3Error('NotImplemented', 'Operations on buckets are not implemented.');
      response.writeHead(200, { 'x-amz-bucket-region': region }).end();
    } else if (method === 'PUT') {
      await put(exchange, target, sha256);
    } else if (method === 'GET' || method === 'HEAD') {
      await inSlot(downloads, exchange, key, (moved) =>
        sendObject({ files, turn }, key, exchange, (count) => {
          moved(count);
          metrics.objectBytes.inc({ direction: 'out' }, count);
        }),
      );
    } else if (method === 'DELETE') {
      if (headers['if-match'] !== undefined)
        throw new S3Error('NotImplemented', 'if-match is not implemented for DELETE.');
      await files.remove(key);
      response.writeHead(204).end();
    } else {
      throw new S3Error('MethodNotAllowed', 'The specified method is not allowed.', {
        headers: { Allow: 'DELETE, GET, HEAD, PUT' },
      });
    }
  }

  return { serve };
}
