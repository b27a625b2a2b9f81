import { MANIFEST } from './lockfile.ts';

/** The folders of the programs that the package `lapel` contains. They import one another only. */
export const PROGRAMS = ['src', 'device-sim', 'demo', 'harness'];

/** The packages whose files browsers get. Their files are copied; the packages themselves are five times as large. */
export const BROWSER_PACKAGES = ['preact', '@preact/signals', '@preact/signals-core', 'uplot'];

/** A dependency that only tests import. */
const OF_TESTS = ['aedes-persistence'];

/** The packages that the programs import. */
export const RUNTIME_PACKAGES = Object.keys(MANIFEST.dependencies).filter(
  (name) => !BROWSER_PACKAGES.includes(name) && !OF_TESTS.includes(name),
);

/** Folders and files that are part of the package as they are. */
export const UNCHANGED = [
  'bin',
  'schemas',
  'docs',
  'README.md',
  'CHANGELOG.md',
  'CODE_OF_CONDUCT.md',
  'SECURITY.md',
  'CONFORMANCE.md',
  'CONTRIBUTING.md',
  'LICENSE',
];
