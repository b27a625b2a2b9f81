import { DomainError } from '@lapel/schemas/contracts/errors';
import { createRemembered } from '../../runtime/remembered.ts';
import { createDocsFile, type DocsFile } from './file.ts';
import { linksOfService } from './links.ts';
import { pageOfFile, pathOf } from './names.ts';
import { PAGE_HEADERS } from './page-headers.ts';
import { type SiteFiles, siteFiles } from './site-files.ts';
import { type Named, siteText } from './site-text.ts';

interface Parts extends Pick<Named, 'apiRelease' | 'timeZone'> {
  publicUrl(): Named['publicUrl'];
  mqttUrls(): Named['mqttUrls'];
  files?: SiteFiles;
}

export type Docs = ReturnType<typeof createDocs>;

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

// Headers of all files. Addresses and the release of the interface, which some of them name, may change with a restart, so
// browsers ask each time whether the file has changed.
const REVALIDATED = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' };

/** The documents of the API, and the site of all documents. Each file is filled in at its first request, and kept. */
export function createDocs({ apiRelease, timeZone, publicUrl, mqttUrls, files = siteFiles(apiRelease) }: Parts) {
  const remembered = createRemembered({ keptMicros: Number.POSITIVE_INFINITY });

  async function make(name: string): Promise<DocsFile> {
    const page = pageOfFile(name);
    // The addresses are known when the service listens.
    const named = { apiRelease, timeZone, publicUrl: publicUrl(), mqttUrls: mqttUrls() };
    const links = linksOfService(name, named.publicUrl);
    const text = siteText(name, await files.read(name), { named, links });
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]!;
    return createDocsFile(type, text, page === undefined ? REVALIDATED : { ...REVALIDATED, ...PAGE_HEADERS });
  }

  /** The names of all files by their paths. */
  const names = (): Promise<Map<string, string>> =>
    remembered('', async () => new Map((await files.names()).map((name) => [pathOf(name), name])));

  return {
    /** The names of all pages; that of the first one is ''. */
    async pages(): Promise<string[]> {
      const known = (await files.names()).map(pageOfFile);
      return known.filter((page) => page !== undefined).toSorted();
    },

    /** Finds the file of a path: a document, `/docs`, or a page or a file below it. Throws FILE_NOT_FOUND. */
    async find(path: string): Promise<DocsFile> {
      // Only paths that exist are looked for in what is kept, so that others cannot drive these out.
      const name = (await names()).get(path);
      if (name === undefined) throw new DomainError('FILE_NOT_FOUND');
      return remembered(path, () => make(name));
    },
  };
}
