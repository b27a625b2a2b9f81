// Makes a fresh clone ready: installs exactly what package-lock.json says, once per lockfile.
// Runs on whatever Node the machine has (also an old one), so: plain JavaScript, no dependency.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.lapel-installed');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';

// Who runs the scripts of package.json on dependencies that are in use, as tests do, says so: they must not be replaced then.
if (installed !== wanted && process.env.SET_UP_IS_DONE !== 'true') {
  process.stderr.write('Installing dependencies (once per version of package-lock.json; about half a minute) ...\n');
  // npm put node_modules/.bin first on PATH; the Node in there must not be the one that replaces itself.
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
  writeFileSync(stamp, wanted);
}
