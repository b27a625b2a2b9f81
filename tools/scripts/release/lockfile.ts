import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');

/** A package of package-lock.json. */
export interface Locked {
  readonly version: string;
  readonly license?: string;
  /** The hash of its archive. */
  readonly integrity?: string;
  /** Where its archive is, unless it comes from the registry. */
  readonly resolved?: string;
  /** True for a folder of this machine. */
  readonly link?: boolean;
  /** True for a package inside of the archive of another one. */
  readonly inBundle?: boolean;
  /** True for a package that only the work at this project needs. */
  readonly dev?: boolean;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { optional?: boolean }>>;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  bin: Record<string, string>;
  /** The folders of the packages beside the service. */
  workspaces: readonly string[];
  dependencies: Readonly<Record<string, string>>;
  devDependencies: Readonly<Record<string, string>>;
  optionalDependencies: Readonly<Record<string, string>>;
}

/** The package.json of a package of this repository. */
export const manifestOf = (folder: string): Manifest => readJson<Manifest>(join(folder, 'package.json'));
/** That of the service. The others have no version of their own. */
export const MANIFEST = manifestOf('.');
/** Whether a dependency is a library, and no package of this repository. */
export const isLibrary = (name: string): boolean => !name.startsWith('@lapel/');
/** All packages of package-lock.json by their folders; `''` is this project. */
export const { packages: PACKAGES } = readJson<{ packages: Readonly<Record<string, Locked>> }>('package-lock.json');

/** The version of a package that this project has installed at the top of its tree. */
export function lockedVersion(name: string): string {
  const found = PACKAGES[`node_modules/${name}`];
  if (!found) throw new Error(`package-lock.json has no ${name}`);
  return found.version;
}

/** Where Node finds a package that the package at a path requires; undefined when it is not installed. */
function found(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (PACKAGES[path]) return path;
    if (folder === '') return undefined;
  }
}

const isTypes = (name: string): boolean => name.startsWith('@types/') || name === 'type-fest';

/** The packages that a package needs to run, without those that are only types. */
function needsOf({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta = {},
}: Locked): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  const all = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
  return all.filter((name) => !isTypes(name));
}

/** The folders of some packages and of all packages that they need, as `node_modules/a/node_modules/b`, sorted. */
export function closureOf(names: readonly string[]): string[] {
  const seen = new Set<string>();
  const visit = (from: string, name: string): void => {
    const path = found(from, name);
    if (path === undefined || seen.has(path)) return;
    seen.add(path);
    for (const need of needsOf(PACKAGES[path]!)) visit(path, need);
  };
  for (const name of names) visit('', name);
  return [...seen].sort();
}

/** A manifest without the packages that are only types. */
export const withoutTypes = (needs: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(needs).filter(([name]) => !isTypes(name)));

/** The name and version of the package in a folder, as `name@version`. */
export const referenceOf = (path: string): string =>
  `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${PACKAGES[path]?.version}`;
