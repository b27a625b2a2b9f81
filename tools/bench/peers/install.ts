import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders with libraries of their own: those of most peers, and those of Restate, whose server takes 216 MB. */
const FOLDERS = { most: import.meta.dirname, restate: join(import.meta.dirname, 'restate') } as const;
type Part = keyof typeof FOLDERS;

interface Locked {
  packages: Record<string, { integrity?: string; optional?: boolean }>;
}

/** Whether libraries are there, in the versions of their package-lock.json; npm notes the packages that it installs. */
export function areInstalled(part: Part): boolean {
  const packagesOf = (file: string): Locked['packages'] =>
    (JSON.parse(readFileSync(join(FOLDERS[part], file), 'utf8')) as Locked).packages;
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
 * Installs libraries of peers beside their services, once for each version of their package-lock.json. No script of them
 * runs. They are no part of this project's own installation.
 */
export function installPeers(parts: readonly Part[]): void {
  for (const part of parts.filter((one) => !areInstalled(one))) {
    process.stderr.write('Installing libraries of the peers (once per version of their package-lock.json) ...\n');
    const flags = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const npm = spawnSync('npm', flags, { cwd: FOLDERS[part], stdio: ['ignore', 2, 2] });
    if (npm.status !== 0) throw new Error('npm ci failed for the peers; its own message is above');
  }
}
