// Reads the files of the console: TypeScript without its types, packages unchanged. It runs in a worker, because
// removing the types takes tens of milliseconds, and the main thread must serve devices meanwhile. A release has the
// same files without types already, and the files of packages beside them.

import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { ROOT_FOLDER } from '../../runtime/installation.ts';
import { PACKAGED, PACKAGES } from './packaged.ts';

/** A file as browsers get it; its path is relative to the folder of all files. */
export interface Source {
  path: string;
  text: string;
}

const FOLDER = `${ROOT_FOLDER}console/`;
const SERVED = /\.(ts|js|mjs|css|svg)$/;
// Source maps are not served; only developer tools would ask for them.
const SOURCE_MAP = /\/\/# sourceMappingURL=\S+\s*$/;

function ownFile(path: string): Source {
  const text = readFileSync(`${FOLDER}${path}`, 'utf8');
  return { path, text: path.endsWith('.ts') ? stripTypeScriptTypes(text) : text };
}

const own = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((path) => SERVED.test(path) && !path.endsWith('.d.ts'))
  .sort()
  .map(ownFile);
const present = new Set(own.map(({ path }) => path));
const packaged = PACKAGED.map(({ file, from }) => ({ path: `${PACKAGES}/${file}`, from }))
  .filter(({ path }) => !present.has(path))
  .map(({ path, from }) => ({
    path,
    text: readFileSync(fileURLToPath(import.meta.resolve(from)), 'utf8').replace(SOURCE_MAP, ''),
  }));

parentPort?.postMessage([...own, ...packaged] satisfies Source[]);
