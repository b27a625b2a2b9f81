import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { readRange } from './byte-range.ts';
import type { ObjectFiles } from './object-files.ts';
import { httpDate, precondition, rangeApplies } from './preconditions.ts';
import { S3Error } from './s3-error.ts';

// Bytes read from the disk at a time: large enough to be quick, small enough to share the event loop.
const BLOCK = 256 * 1024;

/** Answers GET and HEAD. Returns the bytes that were sent. Throws NoSuchKey, InvalidRange, PreconditionFailed before it has begun. */
export async function sendObject(
  files: ObjectFiles,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
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
      return 0;
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
      // What was uploaded is never a page of ours.
      'X-Content-Type-Options': 'nosniff',
      ...(range && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
    });
    if (request.method === 'HEAD' || size === 0) {
      response.end();
      return 0;
    }
    await pipeline(handle.createReadStream({ start, end, highWaterMark: BLOCK, autoClose: false }), response);
    return end - start + 1;
  } finally {
    await handle.close();
  }
}
