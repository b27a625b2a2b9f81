import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from './compile.ts';
import { MANIFEST, manifestOf, ROOT } from './lockfile.ts';
import { jsonFile, NODE_RANGE } from './manifest.ts';
import type { Files } from './tarball.ts';

const FOLDER = 'device';

/** All files of the package `@lapel/device`: the library for devices in Node, as modules of ES. */
export function devicePackage(): Files {
  const files: Files = new Map();
  const options = { declaration: true, types: ['node'], target: 'es2022' };
  const made = compile({ config: 'tsconfig.json', include: [`${FOLDER}/index.ts`], options });
  for (const [path, content] of made) files.set(path.slice(`${FOLDER}/`.length), content);
  for (const [name, place] of [
    ['README.md', `${FOLDER}/README.md`],
    ['LICENSE', 'LICENSE'],
  ] as const)
    files.set(name, readFileSync(join(ROOT, place)));
  const { version, license } = MANIFEST;
  const { description, dependencies } = manifestOf(FOLDER);
  const manifest = {
    name: '@lapel/device',
    version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: NODE_RANGE },
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
    dependencies,
  };
  files.set('package.json', jsonFile(manifest));
  return files;
}
