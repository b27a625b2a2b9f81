import { join } from 'node:path';
import { pageOfFile, textFileOfPage } from '../names.ts';
import { foldersAt, RELEASES } from '../site-files.ts';
import { makeSite } from './make-site.ts';
import { textOfPage } from './site/page-text.ts';

/**
 * The files of the site as a release of this project has them: those of the newest release of the interface, and below
 * them, for each release before, the ones that are different there.
 */
export async function storedFiles(): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const apiRelease of ['', ...RELEASES].reverse()) {
    const [own = '', ...others] = foldersAt(apiRelease);
    const newer = (name: string): string | undefined =>
      others.map((folder) => all.get(join(folder, name))).find((one) => one !== undefined);
    for (const [name, text] of await makeSite(apiRelease)) {
      if (text === newer(name)) continue;
      all.set(join(own, name), text);
      const page = pageOfFile(name);
      if (page === undefined) continue;
      const read = textOfPage(text);
      if (read !== newer(textFileOfPage(page))) all.set(join(own, textFileOfPage(page)), read);
    }
  }
  return all;
}
