// Reads the pages' files: TypeScript without its types, packages as they are. In a worker, because taking the types away
// holds a thread for tens of milliseconds, and devices are talked to by the other one.
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { PACKAGED, PACKAGES } from './packaged.ts';

/** A file as browsers get it; its path is below the folder of all files. */
export interface Source {
  path: string;
  text: string;
}

const FOLDER = fileURLToPath(new URL('../../../console/', import.meta.url));
const SERVED = /\.(ts|css|svg)$/;
// Asked for by developer tools alone, and not served.
const SOURCE_MAP = /\/\/# sourceMappingURL=\S+\s*$/;

function ownFile(path: string): Source {
  const text = readFileSync(`${FOLDER}${path}`, 'utf8');
  return { path, text: path.endsWith('.ts') ? stripTypeScriptTypes(text) : text };
}

const own = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((path) => SERVED.test(path) && !path.endsWith('.d.ts'))
  .sort()
  .map(ownFile);
const packaged = PACKAGED.map(({ file, from }) => ({
  path: `${PACKAGES}/${file}`,
  text: readFileSync(fileURLToPath(import.meta.resolve(from)), 'utf8').replace(SOURCE_MAP, ''),
}));

parentPort?.postMessage([...own, ...packaged] satisfies Source[]);
