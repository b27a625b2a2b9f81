import { isLibrary, manifestOf } from './lockfile.ts';

/** The folders of the programs that the package `lapel` contains. They import one another only. */
export const PROGRAMS = ['src', 'schemas', 'client', 'cli', 'device-sim', 'tools/demo', 'tools/harness'];

/** The packages of this repository whose libraries the programs import. */
const PACKAGES = ['.', 'schemas', 'client', 'cli', 'device-sim', 'tools'];

/** Folders of code that makes files at the release: the package has these files, not the code. */
export const MAKERS = ['src/edge/docs/make/', 'src/edge/pages/make/'];

/** Whether a file of the programs is part of the package. */
export const isReleased = (path: string): boolean => !MAKERS.some((folder) => path.startsWith(folder));

/** The packages that are part of the console's files. The package has these files and the licenses only. */
export const BROWSER_PACKAGES = ['preact', '@preact/signals', '@preact/signals-core', 'uplot'];

/** The packages that the programs import. */
export const RUNTIME_PACKAGES = [
  ...new Set(PACKAGES.flatMap((folder) => Object.keys(manifestOf(folder).dependencies)).filter(isLibrary)),
].sort();

/** Folders and files that are part of the package as they are. */
export const UNCHANGED = [
  'bin',
  'docs',
  'README.md',
  'CHANGELOG.md',
  'CODE_OF_CONDUCT.md',
  'SECURITY.md',
  'CONFORMANCE.md',
  'CONTRIBUTING.md',
  'LICENSE',
];
