import type { Contracts } from '../../platform/contracts/contracts.ts';
import { createDeprecations } from '../../runtime/deprecations.ts';
import { createDocuments } from './documents.ts';
import { createDocsFile, type DocsFile } from './file.ts';
import { linksOfService } from './site/links.ts';
import { PAGE_HEADERS } from './site/page.ts';
import { DOCUMENTS, SWAGGER_FILES } from './site/places.ts';
import { createSite } from './site/site.ts';

/** The data that the files are made from: it can be posted to a thread. */
export interface Given {
  documents: Contracts['documents'];
  apiRelease: string;
  timeZone: string;
  publicUrl: string;
  mqttUrls: string[];
}

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';
const TYPES: Record<string, string> = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' };

// Headers of the files in which addresses and the release of the interface are named. These may change with a restart,
// so browsers ask each time whether the file has changed.
const REVALIDATED = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' };
// Headers of the files of packages, which are large and change only when the service is updated.
const CACHED = { 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' };

/** Makes the documents of the API, and the files of the site of all documents. */
export function createMaking({ documents: schemas, apiRelease, timeZone, publicUrl, mqttUrls }: Given) {
  const deprecations = createDeprecations(apiRelease);
  const documents = createDocuments({
    contracts: { documents: schemas },
    deprecations,
    timeZone,
    publicUrl: () => publicUrl,
    mqttUrls: () => mqttUrls,
  });
  const site = createSite({ documents, deprecations, linksOf: linksOfService });

  const json = (document: object): Promise<DocsFile> =>
    createDocsFile(JSON_TYPE, JSON.stringify(document), REVALIDATED);

  async function file(name: string, type: string): Promise<DocsFile> {
    const isPackaged = SWAGGER_FILES.some((one) => one === name);
    return createDocsFile(type, await site.file(name), isPackaged ? CACHED : REVALIDATED);
  }

  return {
    /** The paths of all files. */
    async paths(): Promise<string[]> {
      const { pages, files } = await site.names();
      return [...DOCUMENTS, ...[...pages, ...files].map((name) => (name === '' ? '/docs' : `/docs/${name}`))];
    },
    /** Makes the file of one of these paths. */
    async file(path: string): Promise<DocsFile> {
      if (path === '/openapi.json') return json(await documents.openApi());
      if (path === '/asyncapi.json') return json(await documents.asyncApi());
      const name = path.slice('/docs/'.length);
      const type = TYPES[name.split('.').at(-1) ?? ''];
      if (type !== undefined) return file(name, type);
      return createDocsFile(HTML_TYPE, await site.page(name), { ...REVALIDATED, ...PAGE_HEADERS });
    },
  };
}
