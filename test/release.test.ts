import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { NODE_OF_CHECKOUT, NODE_OF_PACKAGE, refusalOf } from '@lapel/schemas/base/installation';
import {
  BROWSER_PACKAGES,
  isReleased,
  MAKERS,
  PROGRAMS,
  RUNTIME_PACKAGES,
} from '@lapel/tools/scripts/release/contents';
import { debianPackage } from '@lapel/tools/scripts/release/debian-package';
import { isLibrary, MANIFEST, manifestOf, ROOT, referenceOf } from '@lapel/tools/scripts/release/lockfile';
import { type Files, tarball } from '@lapel/tools/scripts/release/tarball';
import t from 'tap';
import { missing } from './installed.ts';

/** Imports of a package, also those of later: `import()`, `loadLate()`, `import.meta.resolve()`. Types are no imports. */
const IMPORT =
  /^(?:import|export)\s(?!type\b)[^'"]*?\bfrom '([^'.][^']*)'|^import '([^'.][^']*)'|(?:\bimport|\bloadLate|\bimport\.meta\.resolve)\('([^'.][^']*)'\)/gm;
const BUILT_IN = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

const sources = PROGRAMS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path)),
);
const released = sources.filter(isReleased);

t.test('the package contains every package that its programs import, and no other', async (t) => {
  const imported = new Map<string, string>();
  for (const path of released) {
    for (const [, ...names] of readFileSync(join(ROOT, path), 'utf8').matchAll(IMPORT)) {
      const name = names.find((one) => one !== undefined) ?? '';
      if (!BUILT_IN.has(name) && isLibrary(name)) imported.set(packageOf(name), path);
    }
  }
  t.same(
    [...imported].filter(([name]) => !RUNTIME_PACKAGES.includes(name)),
    [],
    'forgotten',
  );
  t.same(
    RUNTIME_PACKAGES.filter((name) => !imported.has(name)),
    [],
    'surplus',
  );
  t.same(
    BROWSER_PACKAGES.filter((name) => !existsSync(join(ROOT, 'node_modules', name))),
    [],
    'not there to copy',
  );
});

t.test('the programs of the package import nothing of the code that makes files at the release', async (t) => {
  const made = released.flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^(?:import|export)\s(?!type\b)[^'"]*?\bfrom '(\.[^']*)'/gm)]
      .map(([, target = '']) => join(path, '..', target))
      .filter((target) => !isReleased(target)),
  );
  t.same(made, []);
  for (const folder of MAKERS)
    t.ok(
      sources.some((path) => path.startsWith(folder)),
      `${folder} is there`,
    );
});

t.test('the programs of the package import only one another', async (t) => {
  const strangers = sources.flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/(?:from |import\()'((?:\.|@lapel\/[\w-]+\/)[^']*)'/g)]
      .map(([, target = '']) => (isLibrary(target) ? join(path, '..', target) : target.slice('@lapel/'.length)))
      .filter((target) => !PROGRAMS.some((folder) => target.startsWith(`${folder}/`))),
  );
  t.same(strangers, []);
});

t.test('a module that is named by its address has the ending of the package there', async (t) => {
  const fixed = sources.filter((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return /new URL\('[^']*\.ts'|import\.meta\.dirname, '[^']*\.ts'/.test(text);
  });
  t.same(fixed, [], 'MODULE_ENDING');
});

const FILES: Files = new Map([
  ['package.json', Buffer.from('{}')],
  ['bin/lapel.mjs', Buffer.from('#!/usr/bin/env node\n')],
  [`${'deep/'.repeat(24)}file.js`, Buffer.alloc(513, 'x')],
]);

t.test('an archive has the form of npm, and equal files give equal bytes', async (t) => {
  const archive = tarball(FILES);
  t.same(tarball(new Map([...FILES].reverse())), archive);
  t.same(archive.subarray(0, 10), Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]), 'no time and no system');
  const listed = execFileSync('tar', ['-tvzf', '-'], {
    input: archive,
    encoding: 'utf8',
    env: { TZ: 'UTC', ...process.env },
  });
  t.match(listed, /^-rwxr-xr-x .* package\/bin\/lapel\.mjs$/m);
  t.match(listed, /^-rw-r--r-- .* 513 .* package\/(?:deep\/){24}file\.js$/m);
  t.match(listed, /^-rw-r--r-- .* 2 .* package\/package\.json$/m);
  const [header] = [gunzipSync(archive).subarray(0, 512)];
  t.equal(header.toString('latin1', 157, 257), '\0'.repeat(100), 'no link');
  t.equal(header.toString('latin1', 257, 265), 'ustar\x0000');
  t.throws(() => tarball(new Map([['x'.repeat(200), Buffer.alloc(0)]])), /too long/);
});

t.test('the version stands in package.json; package-lock.json and the other packages have the same', async (t) => {
  for (const folder of MANIFEST.workspaces) t.equal(manifestOf(folder).version, MANIFEST.version, folder);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { version: string };
  t.equal(lock.version, MANIFEST.version);
  t.match(referenceOf('node_modules/koa'), /^koa@\d+\.\d+\.\d+$/);
});

t.test('a version of Node that does not fit is named, with those that do', async (t) => {
  t.equal(refusalOf('24.1.0', NODE_OF_PACKAGE), undefined);
  t.equal(refusalOf('22.19.0', NODE_OF_PACKAGE), undefined);
  t.equal(refusalOf('22.18.0', NODE_OF_PACKAGE), 'needs Node 22 (22.19 or newer) or 24, but this is v22.18.0');
  t.equal(refusalOf('20.20.2', NODE_OF_CHECKOUT), 'needs Node 24, but this is v20.20.2');
  t.equal(refusalOf('25.0.0', NODE_OF_CHECKOUT), 'needs Node 24, but this is v25.0.0');
});

t.test(
  'a Debian package has the binary of its architecture, its settings, pages and completions',
  { skip: missing.dpkg() },
  async (t) => {
    const prebuild = 'node_modules/better-sqlite3/prebuilds/';
    const lapel: Files = new Map(
      ['bin/lapel.mjs', 'bin/start.mjs', `${prebuild}linux-x64.node`, `${prebuild}linux-arm64.node`].map((path) => [
        path,
        Buffer.from(path),
      ]),
    );
    const made = debianPackage(lapel, 'arm64');
    t.same(debianPackage(new Map(lapel), 'arm64'), made, 'equal files give equal bytes');
    const file = join(t.testdir({ 'lapel.deb': made }), 'lapel.deb');
    const ask = (...args: string[]): string => execFileSync('dpkg-deb', [...args, file], { encoding: 'utf8' });
    t.match(
      ask('--field'),
      /^Package: lapel\nVersion: [\d.]+\nArchitecture: arm64\n[\s\S]*^Depends: nodejs \(>= 22\.19\), nodejs \(<< 25\)/m,
    );
    const contents = ask('--contents');
    t.match(contents, /^-rwxr-xr-x 0\/0 .* \.\/usr\/lib\/lapel\/bin\/lapel\.mjs$/m);
    t.match(contents, /^-rw-r----- 0\/0 .* \.\/etc\/lapel\/lapel\.env$/m);
    t.match(contents, /^l.* \.\/usr\/bin\/lapel -> \.\.\/lib\/lapel\/bin\/lapel\.mjs$/m);
    for (const path of ['linux-arm64.node', '_lapel', 'lapel.fish', 'lapel.1.gz', 'lapel-sim.1.gz', 'lapel.service'])
      t.match(contents, new RegExp(`/${path.replaceAll('.', '\\.')}\n`), path);
    t.notMatch(contents, /linux-x64/);
  },
);
