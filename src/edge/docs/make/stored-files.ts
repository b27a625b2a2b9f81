import { join } from 'node:path';
import { foldersAt, RELEASES } from '../site-files.ts';
import { makeSite } from './make-site.ts';

/**
 * The files of the site as a release of this project has them: those of the newest release of the interface, and below
 * them, for each release before, the ones that are different there.
 */
export async function storedFiles(): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const apiRelease of ['', ...RELEASES].reverse()) {
    const [own = '', ...others] = foldersAt(apiRelease);
    for (const [name, text] of await makeSite(apiRelease)) {
      const newer = others.map((folder) => all.get(join(folder, name))).find((one) => one !== undefined);
      if (text !== newer) all.set(join(own, name), text);
    }
  }
  return all;
}
