import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compressed = promisify(gzip);

/** A file that browsers and tools read and cache: a document, a page, or a file of a page. */
export interface DocsFile {
  type: string;
  bytes: Buffer;
  gzipped: Buffer;
  /** A weak ETag, because the plain and the gzipped form share it (RFC 9110 8.8.1). */
  etag: string;
  headers: Record<string, string>;
}

export async function createDocsFile(
  type: string,
  content: string | Buffer,
  headers: Record<string, string>,
): Promise<DocsFile> {
  const bytes = Buffer.from(content);
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { type, bytes, gzipped: await compressed(bytes), etag: `W/"${digest}"`, headers };
}

/** Whether an `If-None-Match` names this file (RFC 9110 13.1.2). */
export function isKnown(ifNoneMatch: string | undefined, { etag }: Pick<DocsFile, 'etag'>): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = etag.slice('W/'.length);
  return ifNoneMatch.split(',').some((tag) => ['*', etag, opaque].includes(tag.trim()));
}

const WEIGHT = /^q=(0(\.\d{0,3})?|1(\.0{0,3})?)$/i;
const NO_WEIGHT = /^q=0(\.0*)?$/i;
const LONGEST_WEIGHT = 'q=0.000'.length;

/** Whether an `Accept-Encoding` accepts gzip (RFC 9110 12.5.3); a weight of 0 refuses it. */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  return (acceptEncoding ?? '').split(',').some((coding) => {
    const semicolon = coding.indexOf(';');
    const name = semicolon === -1 ? coding : coding.slice(0, semicolon);
    if (name.trim().toLowerCase() !== 'gzip') return false;
    if (semicolon === -1) return true;
    const weight = coding.slice(semicolon + 1).trim();
    return weight.length <= LONGEST_WEIGHT && WEIGHT.test(weight) && !NO_WEIGHT.test(weight);
  });
}

interface Asked {
  'if-none-match'?: string | undefined;
  'accept-encoding'?: string | undefined;
}

/** Answers a file, or 304 to a client that already has it (RFC 9110 13.2.2). */
export function answerWith(file: DocsFile, asked: Asked) {
  const about = { ...file.headers, ETag: file.etag, Vary: 'Accept-Encoding' };
  if (isKnown(asked['if-none-match'], file)) return { status: 304, headers: about };
  const content = { ...about, 'Content-Type': file.type };
  if (!takesGzip(asked['accept-encoding'])) return { status: 200, headers: content, body: file.bytes };
  return { status: 200, headers: { ...content, 'Content-Encoding': 'gzip' }, body: file.gzipped };
}
