// Makes the files of the console: its modules, TypeScript without types, and those of packages become one script, and its
// style sheets one sheet, because over a slow line each file costs a way to the service and back. It runs in a worker,
// because this takes some hundred milliseconds, and the main thread must serve devices meanwhile. A release has the
// same modules without types already, and the files of packages beside them.

import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { MODULE_ENDING, ROOT_FOLDER } from '@lapel/schemas/base/installation';
import { compact } from './compact.ts';
import { joinModules } from './join-modules.ts';
import { PACKAGED, PACKAGES } from './packaged.ts';
import { SHEETS } from './sheets.ts';

/** A file as browsers get it; its path is relative to the folder of all files. */
export interface Source {
  path: string;
  text: string;
}

const FOLDER = `${ROOT_FOLDER}console/`;
// Source maps are not served; only developer tools would ask for them.
const SOURCE_MAP = /\/\/# sourceMappingURL=\S+\s*$/;

/** Reads a file of a package: in a release a copy of it, otherwise where the package is installed. */
function packaged(file: string, from: string): string {
  const copy = `${FOLDER}${PACKAGES}/${file}`;
  const path = existsSync(copy) ? copy : fileURLToPath(import.meta.resolve(from));
  return readFileSync(path, 'utf8').replace(SOURCE_MAP, '');
}

function own(path: string): string {
  const text = readFileSync(`${FOLDER}${path}`, 'utf8');
  return path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
}

/** Reads a module by its URL: `package:NAME`, or `own:/PATH` below the folder of the console. */
function read(url: string) {
  const found = PACKAGED.find(({ name }) => name !== null && url === `package:${name}`);
  return {
    text: found
      ? compact(packaged(found.file, found.from), { keepsHead: true })
      : compact(own(new URL(url).pathname.slice(1)), { keepsHead: false }),
    pathOf: (name: string) => (name.startsWith('.') ? new URL(name, url).href : `package:${name}`),
  };
}

const script = joinModules(`own:/main${MODULE_ENDING}`, read);
const sheets = PACKAGED.filter(({ name }) => name === null).map(({ file, from }) => packaged(file, from));
const style = [...sheets, ...SHEETS.map((name) => own(`style/${name}.css`))].join('\n');
const made: Source[] = [
  { path: 'main.js', text: script },
  { path: 'style.css', text: style },
];
parentPort?.postMessage(made);
