import { DomainError } from '../../errors.ts';
import { createRemembered } from '../../runtime/remembered.ts';
import { createDocuments } from './documents.ts';
import { createDocsFile, type DocsFile } from './file.ts';
import { linksOfService } from './site/links.ts';
import { SWAGGER_FILES } from './site/places.ts';
import { createSite } from './site/site.ts';

type Parts = Parameters<typeof createDocuments>[0] & Pick<Parameters<typeof createSite>[0], 'deprecations'>;

export type Docs = ReturnType<typeof createDocs>;

/** The paths of the two documents. */
export const DOCUMENTS = ['/openapi.json', '/asyncapi.json'] as const;

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';
const TYPES: Record<string, string> = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' };

// Headers of the files in which addresses and the release of the interface are named. These may change with a restart,
// so browsers ask each time whether the file has changed.
const REVALIDATED = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' };
// Headers of the files of packages, which are large and change only when the service is updated.
const CACHED = { 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' };

/**
 * The documents of the API, and the site of all documents. Each file is made at its first request and kept. The code
 * that makes it is loaded then, too, which keeps the start fast.
 */
export function createDocs(parts: Parts) {
  const documents = createDocuments(parts);
  const site = createSite({ documents, deprecations: parts.deprecations, linksOf: linksOfService });
  const remembered = createRemembered({ keptMicros: Number.POSITIVE_INFINITY });

  const json = (document: object): Promise<DocsFile> =>
    createDocsFile(JSON_TYPE, JSON.stringify(document), REVALIDATED);

  async function page(name: string): Promise<DocsFile> {
    const { PAGE_HEADERS } = await import('./site/page.ts');
    const text = await site.page(name);
    return createDocsFile(HTML_TYPE, text, { ...REVALIDATED, ...PAGE_HEADERS });
  }

  async function file(name: string, type: string): Promise<DocsFile> {
    const content = await site.file(name);
    const isPackaged = SWAGGER_FILES.some((one) => one === name);
    return createDocsFile(type, content, isPackaged ? CACHED : REVALIDATED);
  }

  async function make(path: string): Promise<DocsFile> {
    if (path === '/openapi.json') return json(await documents.openApi());
    if (path === '/asyncapi.json') return json(await documents.asyncApi());
    const name = path.slice('/docs/'.length);
    const type = TYPES[name.split('.').at(-1) ?? ''];
    return type === undefined ? page(name) : file(name, type);
  }

  async function allPaths(): Promise<Set<string>> {
    const { pages, files } = await site.names();
    const below = [...pages, ...files].map((name) => (name === '' ? '/docs' : `/docs/${name}`));
    return new Set([...DOCUMENTS, ...below]);
  }
  /** The paths of all files. */
  const paths = (): Promise<Set<string>> => remembered('', allPaths);

  return {
    paths,
    /** Finds the file of a path: a document, `/docs`, or a page or a file below it. Throws FILE_NOT_FOUND. */
    async find(path: string): Promise<DocsFile> {
      // Only paths that exist are looked for in what is kept, so that others cannot drive these out.
      if (!(await paths()).has(path)) throw new DomainError('FILE_NOT_FOUND');
      return remembered(path, () => make(path));
    },
  };
}
