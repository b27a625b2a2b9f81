import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from './compile.ts';
import { MANIFEST, manifestOf, ROOT } from './lockfile.ts';
import { jsonFile } from './manifest.ts';
import type { Files } from './tarball.ts';

const FOLDER = 'client';
const ENTRY = 'client/index';
const DEPENDENCY = 'standardwebhooks';
const SHARED = { declaration: true, types: [], lib: ['es2022', 'dom', 'dom.iterable'], target: 'es2022' };
/** The two kinds of modules, with their settings of TypeScript. */
const KINDS = {
  esm: { type: 'module', options: SHARED },
  cjs: {
    type: 'commonjs',
    options: { ...SHARED, module: 'commonjs', moduleResolution: 'bundler', verbatimModuleSyntax: false },
  },
} as const;

const entryOf = (kind: keyof typeof KINDS): object => ({
  types: `./${kind}/${ENTRY}.d.ts`,
  default: `./${kind}/${ENTRY}.js`,
});

/** All files of the package `@lapel/client`: the typed client and the verification of webhooks, as both kinds of modules. */
export function clientPackage(): Files {
  const files: Files = new Map();
  for (const [kind, { type, options }] of Object.entries(KINDS)) {
    const made = compile({ config: 'tsconfig.json', include: [`${FOLDER}/index.ts`], options });
    for (const [path, content] of made) files.set(`${kind}/${path}`, content);
    files.set(`${kind}/package.json`, jsonFile({ type }));
  }
  files.set('README.md', readFileSync(join(ROOT, FOLDER, 'README.md')));
  files.set('LICENSE', readFileSync(join(ROOT, 'LICENSE')));
  const { version, license } = MANIFEST;
  const { description, dependencies } = manifestOf(FOLDER);
  const manifest = {
    name: '@lapel/client',
    version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.3' },
    main: `./cjs/${ENTRY}.js`,
    types: `./cjs/${ENTRY}.d.ts`,
    exports: {
      '.': { import: entryOf('esm'), require: entryOf('cjs') },
      './package.json': './package.json',
    },
    dependencies: { [DEPENDENCY]: dependencies[DEPENDENCY] },
  };
  files.set('package.json', jsonFile(manifest));
  return files;
}
