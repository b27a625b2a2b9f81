import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDocuments } from './make/documents.ts';
import { linksOfFolder } from './make/site/links.ts';
import { createSite } from './make/site/site.ts';

type Parts = Parameters<typeof createDocuments>[0] & Pick<Parameters<typeof createSite>[0], 'deprecations'>;

/** The files of the forms that make calls: a folder has no service to call. */
const OF_CALLS: readonly string[] = ['try.css', 'try.js'];

/**
 * Writes the whole site into a folder: a file for each page, side by side, with relative links. It needs no server.
 * Files of the same names are replaced. Resolves to the number of pages. Throws errors of the system.
 */
export async function writeSite(folder: string, parts: Parts): Promise<number> {
  const documents = createDocuments(parts);
  const site = createSite({ documents, deprecations: parts.deprecations, linksOf: () => linksOfFolder });
  await mkdir(folder, { recursive: true });
  const write = (name: string, content: string | Buffer): Promise<void> => writeFile(join(folder, name), content);
  const names = await site.names();
  for (const name of names.pages) await write(linksOfFolder.page(name), await site.page(name));
  for (const name of names.files.filter((one) => !OF_CALLS.includes(one))) await write(name, await site.file(name));
  await write('openapi.json', JSON.stringify(await documents.openApi()));
  await write('asyncapi.json', JSON.stringify(await documents.asyncApi()));
  return names.pages.length;
}
