import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ByteRange, readRange } from './byte-range.ts';
import type { ObjectFiles } from './object-files.ts';
import { httpDate, precondition, rangeApplies } from './preconditions.ts';
import { S3Error } from './s3-error.ts';

// Bytes that are read from the disk and written to the socket at a time, in the single buffer of a download.
const BLOCK = 128 * 1024;

/**
 * Answers GET and HEAD; calls `moved` with the number of bytes after each block has left. Throws NoSuchKey, InvalidRange or
 * PreconditionFailed before the answer begins.
 */
export async function sendObject(
  { files, turn }: { files: ObjectFiles; turn: () => Promise<void> },
  key: string,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  moved: (bytes: number) => void,
): Promise<void> {
  const found = await files.open(key);
  if (!found) throw new S3Error('NoSuchKey', 'The specified key does not exist.');
  const { info, handle } = found;
  try {
    const { size, etag, contentType, uploadedAt } = info;
    const verdict = precondition(request.headers, info);
    if (verdict === 412) throw new S3Error('PreconditionFailed', 'A precondition that you specified did not hold.');
    response.setHeader('ETag', etag);
    response.setHeader('Last-Modified', httpDate(uploadedAt));
    if (verdict === 304) {
      response.writeHead(304).end();
      return;
    }
    const range = rangeApplies(request.headers, info) ? readRange(request.headers.range, size) : undefined;
    if (range === 'unsatisfiable') {
      const headers = { 'Content-Range': `bytes */${size}` };
      throw new S3Error('InvalidRange', 'The requested range is not satisfiable.', { headers });
    }
    const { start, end } = range ?? { start: 0, end: size - 1 };
    response.writeHead(range ? 206 : 200, {
      'Accept-Ranges': 'bytes',
      'Content-Type': contentType,
      'Content-Length': end - start + 1,
      // An uploaded file must never be shown as a page of this origin.
      'X-Content-Type-Options': 'nosniff',
      'Content-Disposition': 'attachment',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      ...(range && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
    });
    if (request.method === 'HEAD' || size === 0) {
      response.end();
      return;
    }
    await sendRange(handle, { start, end }, response, { turn, moved });
  } finally {
    await handle.close();
  }
}

async function sendRange(
  handle: FileHandle,
  { start, end }: ByteRange,
  response: ServerResponse,
  { turn, moved }: { turn: () => Promise<void>; moved: (bytes: number) => void },
): Promise<void> {
  const gone = new Error('the client went away');
  let fail: (error: Error) => void = () => undefined;
  response.once('close', () => fail(gone));
  const block = Buffer.allocUnsafe(Math.min(BLOCK, end - start + 1));
  for (let at = start; at <= end; ) {
    const { bytesRead } = await handle.read(block, 0, Math.min(block.length, end - at + 1), at);
    if (bytesRead === 0) throw new Error('the file of an object ends too early');
    at += bytesRead;
    await turn();
    // The next block is read after this one has left, because both use the same buffer, and a slow client must not fill the
    // memory.
    await new Promise<void>((resolve, reject) => {
      fail = reject;
      if (response.destroyed) reject(gone);
      else response.write(block.subarray(0, bytesRead), (error) => (error ? reject(error) : resolve()));
    });
    moved(bytesRead);
  }
  response.end();
}
