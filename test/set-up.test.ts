import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

const SCRIPT = join(import.meta.dirname, '../tools/scripts/set-up.mjs');
const PACKAGES = {
  '': { name: 'lapel' },
  'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' },
  'node_modules/for-another-system': { version: '1.0.0', integrity: 'sha512-other', optional: true },
};
const lock = (packages: object): string => JSON.stringify({ packages });

/** A checkout with this lock file, and an `npm` that notes its calls. */
function checkout(t: Test) {
  const root = t.testdir({
    'package-lock.json': lock(PACKAGES),
    tools: { scripts: {} },
    // This npm does not install anything; it makes the folder of the packages, like `npm ci`.
    npm: { npm: '#!/bin/sh\necho "$1" >> "$CALLS"\nmkdir -p node_modules/.bin\nexit "$RESULT"\n' },
  });
  copyFileSync(SCRIPT, join(root, 'tools/scripts/set-up.mjs'));
  chmodSync(join(root, 'npm/npm'), 0o755);
  const calls = join(root, 'calls');
  return {
    root,
    /** Sets up; returns the exit code, and whether npm was called. */
    setUp(env: Record<string, string> = {}) {
      writeFileSync(calls, '');
      const { status, stderr } = spawnSync(process.execPath, [join(root, 'tools/scripts/set-up.mjs')], {
        env: { PATH: `${join(root, 'npm')}:/usr/bin:/bin`, CALLS: calls, RESULT: '0', ...env },
        encoding: 'utf8',
      });
      return { status, hasInstalled: stderr.includes('Installing dependencies'), stderr };
    },
    /** Writes the files that npm leaves behind after an installation. */
    installed(packages: object, withNode = true): void {
      mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
      writeFileSync(join(root, 'node_modules/.package-lock.json'), lock(packages));
      if (withNode) writeFileSync(join(root, 'node_modules/.bin/node'), '');
    },
    stamp: join(root, 'node_modules/.lapel-installed'),
  };
}

t.test('a fresh clone is installed once per version of the lock file', (t) => {
  const { root, setUp, stamp } = checkout(t);
  t.match(setUp(), { status: 0, hasInstalled: true });
  t.ok(existsSync(stamp));
  t.match(setUp(), { status: 0, hasInstalled: false });
  writeFileSync(
    join(root, 'package-lock.json'),
    lock({ ...PACKAGES, 'node_modules/two': { integrity: 'sha512-two' } }),
  );
  t.match(setUp({ SET_UP_IS_DONE: 'true' }), { status: 0, hasInstalled: false }, 'not below a test');
  t.match(setUp(), { status: 0, hasInstalled: true });
  t.end();
});

t.test('a failed installation ends with the code of npm, and is tried again', (t) => {
  const { setUp, stamp } = checkout(t);
  t.match(setUp({ RESULT: '7' }), { status: 7, stderr: /npm ci failed/ });
  t.notOk(existsSync(stamp));
  t.match(setUp(), { status: 0, hasInstalled: true });
  t.end();
});

t.test('an installation by npm ci is used, if it is that of the lock file and has the Node of the project', (t) => {
  const { 'node_modules/for-another-system': _, ...here } = PACKAGES;
  const good = checkout(t);
  good.installed(here);
  t.match(good.setUp(), { status: 0, hasInstalled: false });
  t.ok(existsSync(good.stamp));
  for (const [about, packages, withNode] of [
    ['another version of a package', { ...here, 'node_modules/one': { integrity: 'sha512-old' } }, true],
    ['without a package', { '': {} }, true],
    ['without the Node of the project', here, false],
  ] as const)
    t.test(about, (t) => {
      const { installed, setUp } = checkout(t);
      installed(packages, withNode);
      t.match(setUp(), { status: 0, hasInstalled: true });
      t.end();
    });
  t.end();
});
