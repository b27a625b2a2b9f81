import { S3Error } from './s3-error.ts';

/** The bucket, the key and the query of a request to the embedded store, read from its request target alone. */
export interface S3Target {
  bucket: string;
  /** Decoded; empty when the request is about the bucket itself. */
  key: string;
  /** The path in the form that is signed: each segment is encoded anew by RFC 3986, and nothing is normalized. */
  canonicalPath: string;
  /** Decoded. Names are unique, regardless of case. */
  query: Map<string, string>;
}

const MAX_KEY_BYTES = 1024;

/**
 * Reads a request target. Throws InvalidURI for a target that cannot be decoded, KeyTooLongError for a key above 1024
 * bytes, and AccessDenied for a repeated parameter: a signature over one value must not vouch for the other.
 */
export function readTarget(url: string): S3Target {
  const [path = '', search, ...rest] = url.split('?');
  if (!path.startsWith('/')) throw invalid();
  const segments = path.slice(1).split('/').map(decode);
  const [bucket = '', ...parts] = segments;
  const key = parts.join('/');
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw new S3Error('KeyTooLongError', 'Your key is too long.');
  return {
    bucket,
    key,
    canonicalPath: `/${segments.map(encode).join('/')}`,
    query: readQuery([search ?? '', ...rest].join('?')),
  };
}

function readQuery(search: string): Map<string, string> {
  const query = new Map<string, string>();
  const seen = new Set<string>();
  for (const part of search.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = decode(at < 0 ? part : part.slice(0, at));
    const folded = name.toLowerCase();
    if (seen.has(folded)) throw new S3Error('AccessDenied', 'A query parameter comes twice.');
    seen.add(folded);
    query.set(name, at < 0 ? '' : decode(part.slice(at + 1)));
  }
  return query;
}

const invalid = (): S3Error => new S3Error('InvalidURI', 'The URI cannot be read.');

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid();
  }
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
