import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isInstalled, MODULE_ENDING, ROOT_FOLDER } from '@lapel/schemas/base/installation';
import { createDocsFile, type DocsFile } from '../docs/file.ts';

/** The files of the console, all of the same version of the code. */
export interface ConsoleFiles {
  /** The digest of all files. It is part of their URLs, so browsers may keep the files for ever. */
  digest: string;
  /** The script and the style sheet, by their paths below the folder of all files. */
  files: ReadonlyMap<string, DocsFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  'main.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
};
const CACHED = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The files of the console, which a release has and a checkout makes. */
async function readSources(): Promise<[name: string, text: string][]> {
  const named = async (name: string): Promise<[string, string]> => [
    name,
    await readFile(`${ROOT_FOLDER}console/${name}`, 'utf8'),
  ];
  if (isInstalled) return Promise.all(Object.keys(TYPES).map(named));
  const maker = new URL(`./make/make-console${MODULE_ENDING}`, import.meta.url);
  const { makeConsole } = (await import(maker.href)) as typeof import('./make/make-console.ts');
  return Object.entries((await makeConsole()).files);
}

/** Reads and compresses all files of the console. */
async function readAll(): Promise<ConsoleFiles> {
  const sources = await readSources();
  const hash = createHash('sha256');
  for (const [name, text] of sources) hash.update(`${name}\0${text}\0`);
  const made = sources.map(async ([name, text]) => [name, await createDocsFile(TYPES[name]!, text, CACHED)] as const);
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
