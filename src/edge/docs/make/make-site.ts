import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT_FOLDER } from '@lapel/schemas/base/installation';
import type { ApiDocument } from '@lapel/schemas/contracts/api-document';
import { createDeprecations } from '@lapel/schemas/contracts/deprecations';
import { ASYNC_API, fileOfPage, OPEN_API, OVERVIEW, SEARCH, SEARCH_INDEX } from '../names.ts';
import { makeDocuments } from './documents.ts';
import { apiPage, tagPage } from './reference/api-pages.ts';
import { deprecationsPage } from './reference/deprecations-page.ts';
import { eventsPage } from './reference/events-page.ts';
import { firstPage } from './site/first-page.ts';
import { guidePage } from './site/guide-page.ts';
import { overviewText } from './site/overview-text.ts';
import { GUIDES, OWN_FILES, pageOfTag } from './site/places.ts';
import { searchIndex } from './site/search-index.ts';
import { documentOfTag } from './tag-document.ts';

/** The files of the site that are no pages, with their places. The colours are those of the console. */
const FILES: readonly (readonly [name: string, place: string])[] = [
  ['colours.css', join(ROOT_FOLDER, 'console/style/colours.css')],
  ...OWN_FILES.map((name) => [name, join(import.meta.dirname, 'files', name)] as const),
];

/** The engine of the search, MiniSearch, below its license, which asks for that; and how it ranks. */
async function searchScript(): Promise<string> {
  const engine = join(dirname(createRequire(import.meta.url).resolve('minisearch')), '..');
  const places = [
    join(engine, '../LICENSE.txt'),
    join(engine, 'umd/index.js'),
    join(import.meta.dirname, 'files/ranking.js'),
  ];
  const [license, library = '', ranking] = await Promise.all(places.map((place) => readFile(place, 'utf8')));
  return `/*! MiniSearch (MIT license)\n${license}*/\n${library.replace(/\n\/\/# sourceMappingURL=.*/, '')}\n{\n${ranking}}\n`;
}

const tagsOf = (openApi: ApiDocument): string[] => (openApi['tags'] as { name: string }[]).map(({ name }) => name);

/**
 * Makes the site of all documents at a release of the interface: its pages, the files that they load, and the documents of
 * the API, by their names. The texts of its pages in Markdown are made from these (`textOfPage`). Texts that differ between services and folders are slots.
 */
export async function makeSite(apiRelease: string): Promise<Map<string, string>> {
  const deprecations = createDeprecations(apiRelease);
  const { openApi, asyncApi } = await makeDocuments(deprecations);
  const tags = tagsOf(openApi);
  const frame = { tags };
  const pages: (readonly [page: string, text: string | Promise<string>])[] = [
    ['', firstPage(frame)],
    ['api', apiPage(openApi, frame)],
    ['events', eventsPage(asyncApi, frame)],
    ['deprecations', deprecationsPage(deprecations, frame)],
    ...tags.map((tag) => [pageOfTag(tag), tagPage(openApi, tag, frame)] as const),
    ...GUIDES.map((guide) => [guide.name, guidePage(frame, guide)] as const),
  ];
  const files: (readonly [name: string, text: string | Promise<string>])[] = [
    ...pages.map(([page, text]) => [fileOfPage(page), text] as const),
    ...tags.map((tag) => [`${pageOfTag(tag)}.json`, JSON.stringify(documentOfTag(openApi, tag))] as const),
    [OVERVIEW, overviewText(openApi)],
    ...FILES.map(([name, place]) => [name, readFile(place, 'utf8')] as const),
    [SEARCH_INDEX, searchIndex(openApi, asyncApi)],
    [SEARCH, searchScript()],
    [OPEN_API, JSON.stringify(openApi)],
    [ASYNC_API, JSON.stringify(asyncApi)],
  ];
  return new Map(await Promise.all(files.map(async ([name, text]) => [name, await text] as const)));
}
