import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { MODULE_ENDING } from '@lapel/schemas/base/installation';
import { createDocsFile, type DocsFile } from '../docs/file.ts';
import type { Source } from './source-worker.ts';

/** The files of the console, all of the same version of the code. */
export interface ConsoleFiles {
  /** The digest of all files. It is part of their URLs, so browsers may keep the files for ever. */
  digest: string;
  /** The script and the style sheet, by their paths below the folder of all files. */
  files: ReadonlyMap<string, DocsFile>;
}

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
const CACHED = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const extensionOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

async function readSources(): Promise<Source[]> {
  // Node warns that stripping types is experimental. The warning is switched off, because the version of Node is fixed.
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const worker = new Worker(new URL(`./source-worker${MODULE_ENDING}`, import.meta.url), { execArgv, env: {} });
  try {
    const [sources] = (await once(worker, 'message')) as [Source[]];
    return sources;
  } finally {
    await worker.terminate();
  }
}

/** Reads and compresses all files of the console. */
async function readAll(): Promise<ConsoleFiles> {
  const sources = await readSources();
  const hash = createHash('sha256');
  for (const { path, text } of sources) hash.update(`${path}\0${text}\0`);
  const made = sources.map(async ({ path, text }) => {
    return [path, await createDocsFile(TYPES[extensionOf(path)]!, text, CACHED)] as const;
  });
  return {
    digest: hash.digest('base64url').slice(0, 22),
    files: new Map(await Promise.all(made)),
  };
}

export type ReadFiles = ReturnType<typeof createReadFiles>;

/** Makes the function that reads the files of the console at its first call, and keeps them. */
export function createReadFiles() {
  let reading: Promise<ConsoleFiles> | undefined;
  return (): Promise<ConsoleFiles> => {
    reading ??= readAll().catch((error) => {
      reading = undefined; // a failed read is tried again at the next request
      throw error;
    });
    return reading;
  };
}
