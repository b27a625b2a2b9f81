// Prepares a fresh clone: installs the exact versions of package-lock.json, once per version of that file. It runs on the
// machine's own Node, which may be old, so it is plain JavaScript without dependencies.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const stamp = join(root, 'node_modules', '.lapel-installed');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';

/**
 * Whether somebody has run `npm ci` or `npm install` for this lock file: npm notes what it has installed. Packages for
 * other systems are optional, and missing; the Node of this project is one of them, and must be there.
 */
function isInstalledByHand() {
  try {
    const packagesOf = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
    const found = packagesOf(join('node_modules', '.package-lock.json'));
    const isThere = ([path, { integrity, link, optional }]) =>
      path === '' || optional || (link ? existsSync(join(root, path)) : found[path]?.integrity === integrity);
    return (
      existsSync(join(root, 'node_modules/.bin/node')) && Object.entries(packagesOf('package-lock.json')).every(isThere)
    );
  } catch {
    return false;
  }
}

function install() {
  process.stderr.write('Installing dependencies (once per version of package-lock.json; about half a minute) ...\n');
  // npm puts node_modules/.bin first on PATH; the Node in it must not run the installation that replaces it.
  const own = `${sep}node_modules${sep}.bin`;
  const path = (process.env.PATH || '')
    .split(delimiter)
    .filter((entry) => !entry.endsWith(own))
    .join(delimiter);
  const npm = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) {
    process.stderr.write('npm ci failed: nothing was started. Its own message is above.\n');
    process.exit(npm.status || 1);
  }
}

// Tests run npm scripts while the dependencies are in use; they set SET_UP_IS_DONE, so that these are not replaced then.
if (installed !== wanted && process.env.SET_UP_IS_DONE !== 'true') {
  if (!isInstalledByHand()) install();
  writeFileSync(stamp, wanted);
}
