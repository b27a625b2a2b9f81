import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createDocsFile, type DocsFile } from '../docs/file.ts';
import type { Source } from './source-worker.ts';

/** The files of the pages, all of one state of the code. */
export interface ConsoleFiles {
  /** Of all files: where they are served changes when one of them does, so that browsers may keep them for ever. */
  digest: string;
  /** By their path below the folder of all files. */
  files: ReadonlyMap<string, DocsFile>;
  /** The scripts among them. */
  modules: readonly string[];
}

const TYPES: Record<string, string> = {
  ts: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};
const KEPT = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const extensionOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
const isModule = (path: string): boolean => ['ts', 'mjs'].includes(extensionOf(path));

async function readSources(): Promise<Source[]> {
  // What takes the types away is said to be experimental at each first use: it is pinned with the version of Node.
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const worker = new Worker(new URL('./source-worker.ts', import.meta.url), { execArgv, env: {} });
  try {
    const [sources] = (await once(worker, 'message')) as [Source[]];
    return sources;
  } finally {
    await worker.terminate();
  }
}

/** Reads all files, and compresses them. */
async function readAll(): Promise<ConsoleFiles> {
  const sources = await readSources();
  const hash = createHash('sha256');
  for (const { path, text } of sources) hash.update(`${path}\0${text}\0`);
  const made = sources.map(async ({ path, text }) => {
    return [path, await createDocsFile(TYPES[extensionOf(path)]!, text, KEPT)] as const;
  });
  return {
    digest: hash.digest('base64url').slice(0, 22),
    files: new Map(await Promise.all(made)),
    modules: sources.map(({ path }) => path).filter(isModule),
  };
}

export type ReadFiles = ReturnType<typeof createReadFiles>;

/** Reads the files of the pages when they are first asked for, and keeps them. */
export function createReadFiles() {
  let reading: Promise<ConsoleFiles> | undefined;
  return (): Promise<ConsoleFiles> => {
    reading ??= readAll().catch((error) => {
      reading = undefined; // what could not be read is tried again
      throw error;
    });
    return reading;
  };
}
