import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { storedFiles } from '../../../src/edge/docs/make/stored-files.ts';
import { SITE } from '../../../src/edge/docs/site-files.ts';
import { makeConsole } from '../../../src/edge/pages/make/make-console.ts';
import { bundledFiles } from './bundled.ts';
import { compile } from './compile.ts';
import { BROWSER_PACKAGES, isReleased, PROGRAMS, RUNTIME_PACKAGES, UNCHANGED } from './contents.ts';
import { lockedVersion, MANIFEST, ROOT } from './lockfile.ts';
import { NODE_RANGE } from './manifest.ts';
import { compressed, type Files } from './tarball.ts';

/** The types of `lapel/sim`, and the types that these import. */
const SIM_TYPES = 'device-sim/library/public.d.ts';
const SIM_IMPORTS = 'device-sim/scenario/scenario-file';

const read = (path: string): Buffer => readFileSync(join(ROOT, path));
const listed = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
/** The package.json files of the packages beside the service: in a release there is one. */
const MANIFESTS = MANIFEST.workspaces.map((folder) => `${folder}/package.json`);
const isTypeScript = (path: string): boolean => path.endsWith('.ts');

/** The programs as JavaScript, with their other files: migrations, scenarios, styles. */
function programs(): Files {
  const all = compile({ config: 'tsconfig.json', include: PROGRAMS, options: {} });
  for (const path of PROGRAMS.flatMap(listed))
    if (!isTypeScript(path) && !MANIFESTS.includes(path)) all.set(path, read(path));
  const files: Files = new Map([...all].filter(([path]) => isReleased(path)));
  const types = read(SIM_TYPES).toString();
  files.set(SIM_TYPES, Buffer.from(types.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'")));
  const made = compile({
    config: 'tsconfig.json',
    include: [`${SIM_IMPORTS}.ts`],
    options: { declaration: true, emitDeclarationOnly: true },
  });
  files.set(`${SIM_IMPORTS}.d.ts`, made.get(`${SIM_IMPORTS}.d.ts`)!);
  return files;
}

/** The license of a package whose files are copied. */
function licenseOf(name: string): Buffer {
  const folder = join('node_modules', name);
  const file = readdirSync(join(ROOT, folder)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no license`);
  return read(join(folder, file));
}

/** The files of the console, and the licenses of the packages that are part of them. */
async function pages(): Promise<Files> {
  const { files: made, packages } = await makeConsole();
  const unlisted = packages.filter((name) => !BROWSER_PACKAGES.includes(name));
  if (unlisted.length > 0)
    throw new Error(`BROWSER_PACKAGES lacks ${unlisted.join(', ')}, of which the console has parts`);
  return new Map([
    ...Object.entries(made).map(([name, text]) => [`console/${name}`, Buffer.from(text)] as const),
    ...packages.map((name) => [`licenses/${name}.txt`, licenseOf(name)] as const),
  ]);
}

/** The site of all documents, compressed: it is four times as large otherwise. */
async function site(): Promise<Files> {
  const made = await storedFiles();
  return new Map([...made].map(([path, text]) => [`${SITE}/${path}.gz`, compressed(Buffer.from(text))]));
}

function manifest(): object {
  const { name, version, description, license, bin } = MANIFEST;
  const types = `./${SIM_TYPES}`;
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: NODE_RANGE },
    os: ['linux', 'darwin'],
    bin,
    exports: {
      './sim': { types, default: './device-sim/library/sim.js' },
      './package.json': './package.json',
    },
    dependencies: Object.fromEntries(RUNTIME_PACKAGES.map((one) => [one, lockedVersion(one)])),
    bundleDependencies: RUNTIME_PACKAGES,
  };
}

/** All files of the package `lapel`. */
export async function lapelPackage(): Promise<Files> {
  const unchanged = UNCHANGED.flatMap((path) => (path.includes('.') || path === 'LICENSE' ? [path] : listed(path)));
  const files: Files = new Map([...programs(), ...(await pages()), ...(await site())]);
  for (const path of unchanged) files.set(path, read(path));
  files.set('bin/start.mjs', read('tools/scripts/release/start.mjs'));
  files.set('package.json', Buffer.from(`${JSON.stringify(manifest(), undefined, 2)}\n`));
  for (const [path, content] of bundledFiles(RUNTIME_PACKAGES)) files.set(path, content);
  return files;
}
