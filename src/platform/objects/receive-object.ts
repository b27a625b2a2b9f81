import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import type { Draft, ObjectFiles, ObjectInfo } from './object-files.ts';
import { S3Error } from './s3-error.ts';

export interface Upload {
  key: string;
  /** Bytes, as declared in `Content-Length`. */
  size: number;
  contentType: string;
  /** The SHA-256 that the signature vouches for (hexadecimal), and the client's own `Content-MD5`. */
  sha256: string | undefined;
  md5: Buffer | undefined;
}

const DEFAULT_TYPE = 'binary/octet-stream';
const LONGEST_TYPE = 1024;

/** Reads the headers of a PUT. Throws an S3Error for a request that can be refused before its body arrives. */
export function readUpload(key: string, request: IncomingMessage, sha256: string | undefined, limit: number): Upload {
  const { headers } = request;
  const length = headers['content-length'];
  if (length === undefined || !/^\d{1,15}$/.test(length)) {
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  }
  const size = Number(length);
  if (size > limit) throw new S3Error('EntityTooLarge', `Your proposed upload exceeds the limit of ${limit} bytes.`);
  const type = headers['content-type'] ?? DEFAULT_TYPE;
  if (type.length > LONGEST_TYPE) throw new S3Error('InvalidArgument', 'The Content-Type is too long.');
  for (const name of ['if-match', 'if-none-match', 'content-encoding']) {
    if (headers[name] !== undefined) throw new S3Error('NotImplemented', `${name} is not implemented for PUT.`);
  }
  return { key, size, contentType: type, sha256, md5: readMd5(headers['content-md5']) };
}

function readMd5(header: string | string[] | undefined): Buffer | undefined {
  if (header === undefined) return undefined;
  const md5 = Buffer.from(String(header), 'base64');
  if (md5.length !== 16 || md5.toString('base64') !== header)
    throw new S3Error('InvalidDigest', 'Content-MD5 is not valid.');
  return md5;
}

/**
 * Writes the body to disk as fast as the disk allows, and makes it the object. A body that breaks off, or that differs
 * from its digests, leaves no object. A body cannot be longer than declared: HTTP takes the bytes behind it for the next
 * request.
 */
export async function receiveObject(
  { files, clock, turn }: { files: ObjectFiles; clock: Clock; turn: () => Promise<void> },
  upload: Upload,
  request: IncomingMessage,
  /** Called after each part that was written, with its number of bytes. */
  onBytes: (count: number) => void,
  /** Called when the whole body has been written; when it rejects, the object is not replaced. */
  onWhole: () => Promise<void>,
): Promise<ObjectInfo> {
  const draft: Draft = await files.create();
  try {
    const hash: Hash = createHash('sha256');
    const md5 = upload.md5 && createHash('md5');
    let received = 0;
    // An error must not destroy the connection, because the error's answer is sent on it.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      received += chunk.length;
      await turn();
      hash.update(chunk);
      md5?.update(chunk);
      await draft.write(chunk);
      onBytes(chunk.length);
    }
    // A connection that is cut makes the loop throw; this check covers a length that HTTP should make impossible.
    if (received !== upload.size || !request.complete)
      throw new S3Error('IncompleteBody', 'The body is not as long as declared.');
    const digest = hash.digest('hex');
    if (upload.sha256 !== undefined && upload.sha256 !== digest) {
      throw new S3Error('XAmzContentSHA256Mismatch', 'The body is not the one that was signed.');
    }
    if (upload.md5 && !md5?.digest().equals(upload.md5))
      throw new S3Error('BadDigest', 'The body is not what Content-MD5 says.');
    await onWhole();
    const { key, size, contentType } = upload;
    const info: ObjectInfo = { key, size, etag: `"${digest}"`, contentType, uploadedAt: clock.now() };
    await draft.commit(info);
    return info;
  } finally {
    await draft.discard();
  }
}
