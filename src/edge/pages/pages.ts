import { DomainError } from '@lapel/schemas/contracts/errors';
import { createRemembered } from '../../runtime/remembered.ts';
import { createDocsFile, type DocsFile } from '../docs/file.ts';
import type { ReadFiles } from './files.ts';
import { type ConsoleProvider, type ConsoleRole, consolePage } from './page.ts';

interface Parts {
  role: ConsoleRole;
  /** The time zone of local date-times in the bodies of the REST API. */
  timeZone: string;
  /** The providers through which people sign in. */
  providers: readonly ConsoleProvider[];
  /** Reads the files, which are the same for all listeners. */
  files: ReadFiles;
  /** The address of the documents, where they are not beside the console. */
  docsUrl?(): string;
  /** The URL that files are uploaded to. */
  objectsUrl(): string;
}

export type ConsolePages = ReturnType<typeof createConsolePages>;

/** The path of the console on its listener. */
export const CONSOLE = '/console';
const FILES = `${CONSOLE}/files/`;
/** The most segments that the path of a page of the console may have. */
const DEEPEST = 16;

/** The console of a listener: its files, and its one page at every other address below `/console`. */
export function createConsolePages({ role, timeZone, providers, files: allFiles, docsUrl, objectsUrl }: Parts) {
  /** The pages that were made, by the number of segments of their paths, because only their relative links differ. */
  const remembered = createRemembered({ keptMicros: Number.POSITIVE_INFINITY });

  async function makePage(depth: number): Promise<DocsFile> {
    const root = depth === 0 ? './' : '../'.repeat(depth);
    const files = await allFiles();
    const objectsOrigin = new URL(objectsUrl()).origin;
    const { text, headers } = consolePage({
      role,
      timeZone,
      providers,
      docsUrl: docsUrl?.(),
      root,
      files,
      objectsOrigin,
    });
    return createDocsFile('text/html; charset=utf-8', text, headers);
  }

  function pageOf(path: string): Promise<DocsFile> {
    const depth = path.split('/').length - 2;
    if (depth > DEEPEST) throw new DomainError('FILE_NOT_FOUND');
    return remembered(String(depth), () => makePage(depth));
  }

  return {
    /** Finds the file of a path that is `/console` or below it. Throws FILE_NOT_FOUND. */
    async find(path: string): Promise<DocsFile> {
      if (!path.startsWith(FILES)) return pageOf(path);
      const { digest, files } = await allFiles();
      const at = path.slice(FILES.length);
      const file = at.startsWith(`${digest}/`) ? files.get(at.slice(digest.length + 1)) : undefined;
      if (!file) throw new DomainError('FILE_NOT_FOUND');
      return file;
    },
  };
}
