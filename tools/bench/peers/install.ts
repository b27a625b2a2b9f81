import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;
const STAMP = join(FOLDER, 'node_modules', '.installed');

const wanted = (): string =>
  createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');

/** Whether the libraries of the peers are there, in the versions of their package-lock.json. */
export const areInstalled = (): boolean => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted();

/**
 * Installs the libraries of the peers beside their services, once for each version of their package-lock.json. No script of
 * them runs. They are no part of this project's own installation.
 */
export function installPeers(): void {
  if (areInstalled()) return;
  process.stderr.write('Installing the libraries of the peers (once per version of their package-lock.json) ...\n');
  const flags = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = spawnSync('npm', flags, { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  if (npm.status !== 0) throw new Error('npm ci failed for the peers; its own message is above');
  writeFileSync(STAMP, wanted());
}
