import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { isInstalled, MODULE_ENDING, ROOT_FOLDER } from '@lapel/schemas/base/installation';
import { DEPRECATIONS } from '@lapel/schemas/contracts/deprecations';
import { createAnsweringThread } from '../../runtime/answering-thread.ts';
import type { Question } from './make/site-worker.ts';
import { fileOfPage, pageOfFile, pageOfTextFile, textFileOfPage } from './names.ts';

/** The files of the site, as they were made for all services. */
export interface SiteFiles {
  /** The names of all files. */
  names(): Promise<string[]>;
  /** The text of one of them. */
  read(name: string): Promise<string>;
}

/** The folder of an installed package that has the site. */
export const SITE = 'site';
/** The releases of the interface that remove something, in their order. */
export const RELEASES: readonly string[] = [
  ...new Set(Object.values(DEPRECATIONS).map(({ release }) => release)),
].sort();

/**
 * The folders that may have a file of the site at a release of the interface; the first one that has it counts. The last
 * one has all files, as they are when everything deprecated is removed; the others only those that differ before a release.
 */
export const foldersAt = (apiRelease: string): string[] => [
  ...RELEASES.filter((release) => release > apiRelease).map((release) => `before-${release}`),
  '',
];

const unpacked = promisify(gunzip);
const PACKED = '.gz';

/** The site in a folder, as a release has it: each file is compressed. */
export function storedSite(folder: string, apiRelease: string): SiteFiles {
  async function read(name: string, [first = '', ...others] = foldersAt(apiRelease)): Promise<string> {
    try {
      return (await unpacked(await readFile(join(folder, first, name + PACKED)))).toString();
    } catch (error) {
      if (others.length === 0 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return read(name, others);
    }
  }
  return {
    read,
    async names() {
      const entries = await readdir(folder);
      return entries.filter((name) => name.endsWith(PACKED)).map((name) => name.slice(0, -PACKED.length));
    },
  };
}

// A checkout has no site yet. It is made once for all services of the process, on a thread, because this takes the processor
// for a second.
const thread = createAnsweringThread<Question>({
  module: new URL(`./make/site-worker${MODULE_ENDING}`, import.meta.url),
  workerData: null,
  idleMs: 10_000, // texts are read one after another
  name: 'thread that makes the documents',
});
const made = new Map<string, Promise<ReadonlyMap<string, string>>>();

function madeSite(apiRelease: string): SiteFiles {
  const key = foldersAt(apiRelease)[0]!;
  function files(): Promise<ReadonlyMap<string, string>> {
    const known = made.get(key);
    if (known) return known;
    const making = thread.ask({ apiRelease }) as Promise<ReadonlyMap<string, string>>;
    made.set(key, making);
    making.catch(() => made.delete(key)); // tried again at the next request
    return making;
  }
  return {
    async names() {
      const own = [...(await files()).keys()];
      const pages = own.map(pageOfFile).filter((page) => page !== undefined);
      return [...own, ...pages.map(textFileOfPage)];
    },
    async read(name) {
      const page = pageOfTextFile(name);
      if (page === undefined) return (await files()).get(name)!;
      // Texts are read rarely, and take longer to make than all else, so each is made when it is read.
      return (await thread.ask({ page: (await files()).get(fileOfPage(page))! })) as string;
    },
  };
}

/** The files of the site: a release has them, and a checkout makes them at their first use. */
export const siteFiles = (apiRelease: string): SiteFiles =>
  isInstalled ? storedSite(join(ROOT_FOLDER, SITE), apiRelease) : madeSite(apiRelease);
