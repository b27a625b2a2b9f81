import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { closureOf, ROOT, withoutTypes } from './lockfile.ts';
import type { Files } from './tarball.ts';

/** Files that no Node ever reads: declarations, sources of them, source maps, texts except licenses. */
const DEAD_FILES = /\.(?:[cm]?ts|map|md|markdown|tsbuildinfo|flow|yml|png|ico|html)$|(?:^|\/)\.[^/]+$/i;
const LICENSE = /(?:^|\/)(?:licen[cs]e|notice|copying)[^/]*$/i;
/** Tests and settings of linters. */
const DEAD_NAMES = /(?:^|\/)(?:tests?|bench(?:mark|_long)?|eslint\.config)\.[cm]?js$|\.(?:test|spec|bench)\.[cm]?js$/;
/** Folders that no Node ever reads: what the packages are tested with, and their builds for bundlers and browsers. */
const DEAD_FOLDERS =
  /^(?:.*\/)?(?:dist-es|dist-types|umd|iife|tests?|specs|testing|__tests__|benchmarks?|examples?|docs)\//;
/** The same of single packages: sources of native code, binaries for systems without support, builds for browsers. */
const DEAD_PARTS: Readonly<Record<string, RegExp>> = {
  asn1js: /^build\/index\.es\.js$/,
  'better-sqlite3': /^(?:deps|src)\/|^binding\.gyp$|^(?:lib|prebuilds)\/win32-/,
  'csv-parse': /^dist\/(?!cjs)/,
  mqtt: /^dist\//,
  'node-addon-api': /\.(?:h|gypi?|c)$/,
  pvtsutils: /^build\/index\.es\.js$/,
  yaml: /^browser\//,
};

/** Node reads `build/src` or `build/cjs` of the packages of these owners; the other builds are for bundlers. */
const OTHER_BUILDS: Readonly<Record<string, RegExp>> = {
  '@opentelemetry': /^build\/(?:esm|esnext)\//,
  '@peculiar': /^build\/(?:es2015|esm|types)\//,
};

const isDead = (name: string, path: string): boolean =>
  !LICENSE.test(path) &&
  ([DEAD_FILES, DEAD_NAMES, DEAD_FOLDERS].some((dead) => dead.test(path)) ||
    (DEAD_PARTS[name]?.test(path) ?? false) ||
    (OTHER_BUILDS[name.split('/', 1)[0] ?? '']?.test(path) ?? false));

/** The files of an installed package, without the packages in it. */
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('node_modules/'));

/** A manifest as far as a program needs it. */
function manifestOf(text: string): Buffer {
  const { devDependencies: _, scripts: __, publishConfig: ___, ...kept } = JSON.parse(text) as Record<string, unknown>;
  const needs = kept['dependencies'] as Record<string, string> | undefined;
  const manifest = { ...kept, ...(needs && { dependencies: withoutTypes(needs) }) };
  return Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
}

const DECLARATION = /\.d\.[cm]?ts$/;
const RELATIVE = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)["'](\.\.?\/[^"'\n]+)["']/g;
/** The files that a relative name may mean. */
const meant = (path: string): string[] =>
  ['', '.js', '.cjs', '.mjs', '.json', '.node', '/index.js', '/index.cjs'].map((end) => posix.normalize(path + end));

/** Throws when a file that is kept names one that is left out, because the name then leads nowhere. */
function checkNames(folder: string, kept: ReadonlyMap<string, Buffer>, dead: ReadonlySet<string>): void {
  for (const [path, content] of kept) {
    if (!/\.[cm]?js$/.test(path)) continue;
    for (const [, name = ''] of content.toString().matchAll(RELATIVE)) {
      const candidates = meant(posix.join(dirname(path), name));
      const lost = candidates.find((one) => dead.has(one) && !DECLARATION.test(one));
      if (lost !== undefined && !candidates.some((one) => kept.has(one)))
        throw new Error(`${folder}/${path} needs ${lost}, which the release leaves out`);
    }
  }
}

/**
 * The packages that the service needs, in the versions of package-lock.json and with all that they need, but only the
 * files that run. They are part of the package: it is installed without any registry, in the versions that are tested,
 * and half as large.
 */
export function bundledFiles(names: readonly string[]): Files {
  const files: Files = new Map();
  for (const folder of closureOf(names)) {
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const kept: Files = new Map();
    const dead = new Set<string>();
    for (const path of filesOf(join(ROOT, folder))) {
      if (isDead(name, path)) dead.add(path);
      else kept.set(path, readFileSync(join(ROOT, folder, path)));
    }
    checkNames(folder, kept, dead);
    kept.set('package.json', manifestOf(kept.get('package.json')!.toString()));
    for (const [path, content] of kept) files.set(`${folder}/${path}`, content);
  }
  return files;
}
