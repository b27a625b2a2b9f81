import type { Contracts } from '@lapel/schemas/contracts/contracts';
import { createDeprecations } from '@lapel/schemas/contracts/deprecations';
import { createDocsFile, type DocsFile } from './file.ts';
import { createDocuments } from './make/documents.ts';
import { linksOfService } from './make/site/links.ts';
import { PAGE_HEADERS } from './make/site/page.ts';
import { DOCUMENTS } from './make/site/places.ts';
import { createSite } from './make/site/site.ts';

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

// Headers of all files. Addresses and the release of the interface, which some of them name, may change with a restart, so
// browsers ask each time whether the file has changed.
const REVALIDATED = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' };

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
      if (type !== undefined) return createDocsFile(type, await site.file(name), REVALIDATED);
      return createDocsFile(HTML_TYPE, await site.page(name), { ...REVALIDATED, ...PAGE_HEADERS });
    },
  };
}
