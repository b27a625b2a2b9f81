import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Refused } from '../../runtime/refused.ts';
import type { Objects } from './files.ts';

/** The file that is written last: a folder without it is no finished backup. */
const NAME = 'backup.json';

/** The contents of a backup. */
export interface Manifest {
  /** The form of this file. */
  format: 1;
  /** The version of the service that made the backup. */
  lapel: string;
  /** The moment to which the restored database goes back, in UTC. */
  at: string;
  /** The database and the keys, by their names in the data folder. */
  files: { name: string; bytes: number; sha256: string }[];
  /** The objects of the embedded store; null when they were not copied. */
  objects: Objects | null;
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const handle = await open(join(folder, NAME), 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads the manifest of a backup. Throws a Refused if the folder is no finished backup. */
export function readManifest(folder: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(join(folder, NAME), 'utf8')) as Manifest;
  } catch (cause) {
    throw new Refused(`${folder} is no finished backup: it has no readable ${NAME}`, { cause });
  }
  if (manifest.format !== 1) throw new Refused(`${folder} is a backup of a newer version of Lapel`);
  return manifest;
}
