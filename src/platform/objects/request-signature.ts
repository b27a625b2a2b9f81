import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../../runtime/clock.ts';
import { S3Error } from './s3-error.ts';
import type { S3Target } from './s3-target.ts';

export interface StoreCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

interface SignedRequest {
  method: string;
  target: S3Target;
  headers: IncomingHttpHeaders;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const UNSIGNED = 'UNSIGNED-PAYLOAD';
export const LONGEST_VALIDITY_SECONDS = 7 * 24 * 3600; // as in S3
const SKEW_MICROS = 15 * 60 * 1_000_000; // as in S3
const PRESIGNED = [
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Signature',
];

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/** The hash in the form that the signer wants, a class: node:crypto's SHA-256, or its HMAC when there is a secret. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }
  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {
    throw new Error('a hash can be used only once');
  }
}

/**
 * Verifies AWS Signature Version 4, in the query (presigned) or in `Authorization`: the request is signed again with the
 * SDK's own signer, and the signatures are compared. Whatever is not signed must have no effect, so the signature covers
 * all query parameters, `host`, and every `x-amz-` header. Returns the SHA-256 that the body must have (hexadecimal), or
 * undefined when the signature leaves the body open.
 */
function createCheck(parts: { credentials: StoreCredentials; region: string; clock: Clock }) {
  const { credentials, region, clock } = parts;
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials,
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });

  function checkScope(credential: string, date: string): void {
    const scope = `/${date.slice(0, 8)}/${region}/s3/aws4_request`;
    if (!credential.endsWith(scope)) {
      throw new S3Error('AccessDenied', 'The credential scope is not the one of this store and day.');
    }
    if (credential.slice(0, -scope.length) !== credentials.accessKeyId) {
      throw new S3Error('InvalidAccessKeyId', 'The access key is not known.');
    }
  }

  /** The signed headers of a request: those in the list that the signature names. */
  function signedHeaders(list: string, headers: IncomingHttpHeaders): Record<string, string> {
    const names = list.split(';');
    if (names.join() !== [...new Set(names)].sort().join() || names.some((name) => name !== name.toLowerCase())) {
      throw new S3Error('AccessDenied', 'The list of signed headers is not sorted.');
    }
    if (!names.includes('host')) throw new S3Error('AccessDenied', 'The host must be signed.');
    for (const name of Object.keys(headers)) {
      if (name.startsWith('x-amz-') && !names.includes(name)) {
        throw new S3Error('AccessDenied', `The header ${name} was not signed.`);
      }
    }
    const signed: Record<string, string> = {};
    for (const name of names) {
      const value = headers[name];
      if (value === undefined) throw mismatch();
      signed[name] = Array.isArray(value) ? value.join(',') : value;
    }
    return signed;
  }

  async function presigned({ method, target, headers }: SignedRequest): Promise<undefined> {
    const query = Object.fromEntries(target.query);
    const [algorithm, credential, date, expires, list, signature] = PRESIGNED.map(
      (name) => target.query.get(name) ?? '',
    );
    if (algorithm !== ALGORITHM) throw new S3Error('AccessDenied', 'X-Amz-Algorithm must be AWS4-HMAC-SHA256.');
    const signedAt = readDate(date!);
    const validity = Number(expires);
    if (!/^[1-9]\d{0,5}$/.test(expires!) || validity > LONGEST_VALIDITY_SECONDS) {
      throw new S3Error('AccessDenied', 'X-Amz-Expires must be 1 to 604800 seconds.');
    }
    checkScope(credential!, date!);
    const payload = target.query.get('X-Amz-Content-Sha256') ?? headers['x-amz-content-sha256'] ?? UNSIGNED;
    if (payload !== UNSIGNED)
      throw new S3Error('NotImplemented', 'Presigned requests must leave the payload unsigned.');
    if (clock.wall() < signedAt - SKEW_MICROS) throw new S3Error('AccessDenied', 'Request is not valid yet.');
    if (clock.wall() >= signedAt + validity * 1_000_000) throw new S3Error('AccessDenied', 'Request has expired.');
    const signed = signedHeaders(list!, headers);
    const names = new Set(Object.keys(signed));
    delete query['X-Amz-Signature'];
    const request = {
      method,
      path: target.canonicalPath,
      query,
      headers: signed,
      protocol: 'http:',
      hostname: '',
      body: UNSIGNED_BODY,
    };
    const own = await signer.presign(request, {
      signingDate: new Date(signedAt / 1000),
      expiresIn: validity,
      signableHeaders: names,
      unhoistableHeaders: names,
    });
    if (own.query?.['X-Amz-SignedHeaders'] !== list) throw mismatch();
    compare(String(own.query?.['X-Amz-Signature']), signature!);
    return undefined;
  }

  async function authorized({ method, target, headers }: SignedRequest): Promise<string | undefined> {
    const fields = /^AWS4-HMAC-SHA256 Credential=([^, ]+), *SignedHeaders=([^, ]+), *Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
    if (!fields) throw new S3Error('AccessDenied', 'The Authorization header cannot be read.');
    const [, credential = '', list = '', signature = ''] = fields;
    const date = String(headers['x-amz-date'] ?? '');
    const signedAt = readDate(date);
    checkScope(credential, date);
    if (Math.abs(clock.wall() - signedAt) > SKEW_MICROS) {
      throw new S3Error(
        'RequestTimeTooSkewed',
        'The difference between the request time and the current time is too large.',
      );
    }
    const payload = String(headers['x-amz-content-sha256'] ?? '');
    if (payload.startsWith('STREAMING-')) throw new S3Error('NotImplemented', 'Signed chunks are not implemented.');
    if (payload !== UNSIGNED && !/^[0-9a-f]{64}$/.test(payload)) {
      throw new S3Error('AccessDenied', 'x-amz-content-sha256 is missing or no SHA-256.');
    }
    const signed = signedHeaders(list, headers);
    const request = {
      method,
      path: target.canonicalPath,
      query: Object.fromEntries(target.query),
      headers: signed,
      protocol: 'http:',
      hostname: '',
    };
    const own = await signer.sign(request, {
      signingDate: new Date(signedAt / 1000),
      signableHeaders: new Set(Object.keys(signed)),
    });
    const answer = String(own.headers['authorization']);
    if (!answer.includes(`SignedHeaders=${list}, `)) throw mismatch();
    compare(answer.slice(-64), signature);
    return payload === UNSIGNED ? undefined : payload;
  }

  return {
    async check(request: SignedRequest): Promise<string | undefined> {
      const inQuery = [...request.target.query.keys()].some((name) => PRESIGNED.includes(name));
      if (inQuery && request.headers.authorization !== undefined) {
        throw new S3Error('AccessDenied', 'Only one way of signing is allowed.');
      }
      if (inQuery) return presigned(request);
      if (request.headers.authorization === undefined) throw new S3Error('AccessDenied', 'Access denied.');
      return authorized(request);
    },
  };
}

/** Verifies signatures by any of the keys that are accepted; an error is that of the newest. */
export function createSignatureCheck(parts: { accepted(): StoreCredentials[]; region: string; clock: Clock }) {
  const { accepted, region, clock } = parts;
  let checks = new Map<string, ReturnType<typeof createCheck>>();

  function checkOf(credentials: StoreCredentials): ReturnType<typeof createCheck> {
    const made = checks.get(credentials.secretAccessKey) ?? createCheck({ credentials, region, clock });
    checks.set(credentials.secretAccessKey, made);
    return made;
  }

  return {
    async check(request: SignedRequest): Promise<string | undefined> {
      const keys = accepted();
      if (checks.size > keys.length) checks = new Map();
      const [newest, ...former] = keys.map(checkOf);
      try {
        return await newest?.check(request);
      } catch (error) {
        if (!(error instanceof S3Error && error.code === 'SignatureDoesNotMatch')) throw error;
        for (const one of former) {
          const found = await one.check(request).then(
            (value) => ({ value }),
            () => undefined,
          );
          if (found) return found.value;
        }
        throw error;
      }
    },
  };
}

// The signer does not hash a body that is an empty object: it then signs UNSIGNED-PAYLOAD.
const UNSIGNED_BODY = {};

/** Reads `20261120T093000Z` into microseconds. Throws AccessDenied for any other text. */
export function readDate(text: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  const [, year, month, day, hours, minutes, seconds] = match ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  // `Date.parse` turns a day like February 30 into another day; the comparison refuses it.
  if (Number.isNaN(at) || new Date(at).toISOString().replace(/[-:]|\.000/g, '') !== text) {
    throw new S3Error('AccessDenied', 'The date of the signature is missing or cannot be read.');
  }
  return at * 1000;
}

function compare(own: string, given: string): void {
  const same = /^[0-9a-f]{64}$/.test(given) && timingSafeEqual(Buffer.from(own), Buffer.from(given));
  if (!same) throw mismatch();
}

const mismatch = (): S3Error =>
  new S3Error(
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided.',
  );
