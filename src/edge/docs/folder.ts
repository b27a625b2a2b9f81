import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linksOfFolder } from './links.ts';
import { pageOfFile } from './names.ts';
import { siteFiles } from './site-files.ts';
import { type Named, siteText } from './site-text.ts';

/** The files of the forms that make calls: a folder has no service to call. */
const OF_CALLS: readonly string[] = ['try.css', 'try.js'];

/**
 * Writes the whole site into a folder: a file for each page, side by side, with relative links. It needs no server.
 * Files of the same names are replaced. Resolves to the number of pages. Throws errors of the system.
 */
export async function writeSite(folder: string, named: Named): Promise<number> {
  const files = siteFiles(named.apiRelease);
  await mkdir(folder, { recursive: true });
  const names = (await files.names()).filter((name) => !OF_CALLS.includes(name));
  for (const name of names) {
    const text = siteText(name, await files.read(name), { named, links: linksOfFolder(name) });
    await writeFile(join(folder, name), text);
  }
  return names.filter((name) => pageOfFile(name) !== undefined).length;
}
