import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiDocument } from '@lapel/schemas/contracts/api-document';
import type { Deprecations } from '@lapel/schemas/contracts/deprecations';
import { ROOT_FOLDER } from '@lapel/schemas/base/installation';
import type { Documents } from '../documents.ts';
import type { Links } from './links.ts';
import type { Frame } from './page.ts';
import { GUIDES, OWN_FILES, pageOfTag } from './places.ts';

interface Parts {
  documents: Documents;
  deprecations: Deprecations;
  /** The links of a page, by its name. */
  linksOf(name: string): Links;
}

const own = (name: string): string => fileURLToPath(new URL(`../files/${name}`, import.meta.url));

/** The files of the site that are no pages. The colours are those of the console. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['colours.css', join(ROOT_FOLDER, 'console/style/colours.css')],
  ...OWN_FILES.map((name) => [name, own(name)] as const),
]);
const INDEX = 'search-index.js';

const tagsOf = (openApi: ApiDocument): string[] => (openApi['tags'] as { name: string }[]).map(({ name }) => name);

/**
 * The site of all documents: pages and the files that they load, by name. The code that makes a page is loaded with the
 * first page of its kind, which keeps the start fast.
 */
export function createSite({ documents, deprecations, linksOf }: Parts) {
  const make: Record<string, (frame: Frame) => Promise<string>> = {
    '': async (frame) => (await import('./first-page.ts')).firstPage(frame),
    api: async (frame) => (await import('../reference/api-pages.ts')).apiPage(await documents.openApi(), frame),
    events: async (frame) =>
      (await import('../reference/events-page.ts')).eventsPage(await documents.asyncApi(), frame),
    deprecations: async (frame) =>
      (await import('../reference/deprecations-page.ts')).deprecationsPage(deprecations, frame),
  };

  /** The text of a page. */
  async function page(name: string): Promise<string> {
    const openApi = await documents.openApi();
    const tags = tagsOf(openApi);
    const frame = { links: linksOf(name), tags };
    const guide = GUIDES.find((one) => one.name === name);
    if (guide) return (await import('./guide-page.ts')).guidePage(frame, guide);
    if (Object.hasOwn(make, name)) return make[name]!(frame);
    const tag = tags.find((one) => pageOfTag(one) === name)!;
    return (await import('../reference/api-pages.ts')).tagPage(openApi, tag, frame);
  }

  /** The content of a file that pages load. */
  async function file(name: string): Promise<string | Buffer> {
    if (name === INDEX) {
      const { searchIndex } = await import('./search-index.ts');
      // Addresses of the index are relative to a page below /docs, as most pages are.
      return searchIndex(await documents.openApi(), await documents.asyncApi(), linksOf('search'));
    }
    return readFile(FILES.get(name)!);
  }

  return {
    page,
    file,
    /** The names of all pages and of all files. */
    async names() {
      const tags = tagsOf(await documents.openApi()).map(pageOfTag);
      return {
        pages: [...Object.keys(make), ...tags, ...GUIDES.map(({ name }) => name)],
        files: [...FILES.keys(), INDEX],
      };
    },
  };
}
