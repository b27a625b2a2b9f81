import type { DocsPath } from '../docs/docs.ts';
import { isKnown, takesGzip } from '../docs/file.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

/** A document, a page or a file of a page, or 304 to who has it already (RFC 9110 13.2.2). */
export const readDocs =
  (path: DocsPath) =>
  async ({ docs }: Pick<ApiServices, 'docs'>, { headers }: Pick<Input, 'headers'>): Promise<Answer> => {
    const file = await docs.find(path);
    const about = { ...file.headers, ETag: file.etag, Vary: 'Accept-Encoding' };
    if (isKnown(headers['if-none-match'], file)) return { status: 304, headers: about };
    const content = { ...about, 'Content-Type': file.type };
    if (!takesGzip(headers['accept-encoding'])) return { status: 200, headers: content, body: file.bytes };
    return { status: 200, headers: { ...content, 'Content-Encoding': 'gzip' }, body: file.gzipped };
  };
