import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;

interface Locked {
  packages: Record<string, { integrity?: string; optional?: boolean }>;
}
const packagesOf = (file: string): Locked['packages'] =>
  (JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Locked).packages;

/** Whether the libraries of the peers are there, in the versions of their package-lock.json; npm notes what it installs. */
export function areInstalled(): boolean {
  try {
    const found = packagesOf('node_modules/.package-lock.json');
    return Object.entries(packagesOf('package-lock.json')).every(
      ([path, { integrity, optional }]) => path === '' || optional || found[path]?.integrity === integrity,
    );
  } catch {
    return false; // nothing is installed
  }
}

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
}
