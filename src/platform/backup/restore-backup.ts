import { readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../runtime/data-folder.ts';
import { Refused } from '../../runtime/refused.ts';
import { DATABASE_FILE } from '../database/sqlite/database-file.ts';
import { examineDatabase } from '../database/sqlite/examine.ts';
import { lockFolder } from '../database/sqlite/folder-lock.ts';
import { copy, copyObjects, countObjects, digestOf, ignoreMissing, sync } from './files.ts';
import { type Manifest, readManifest } from './manifest.ts';

/** The file that a lock of the data folder makes. */
const LOCK = 'lock.db';

/** Throws a Refused if a file of the backup is not as it was written. */
async function requireWhole(folder: string, { files, objects }: Manifest): Promise<void> {
  for (const { name, sha256 } of files) {
    const found = await digestOf(join(folder, name)).catch(ignoreMissing(() => undefined));
    if (found === undefined) throw new Refused(`the backup is not whole: ${name} is missing`);
    if (found !== sha256) throw new Refused(`the backup is damaged: ${name} has another checksum`);
  }
  if (objects === null) return;
  const { count, bytes } = await countObjects(folder);
  if (count !== objects.count || bytes !== objects.bytes)
    throw new Refused(
      `the backup is not whole: it has ${count} objects of ${bytes} bytes, and had ${objects.count} of ${objects.bytes}`,
    );
}

/** Copies everything; the database gets its name last, so a restore that broke off leaves none that could be started. */
async function fill(from: string, dataDir: string, { files, objects }: Manifest): Promise<void> {
  for (const { name } of files)
    await copy(join(from, name), join(dataDir, name === DATABASE_FILE ? `${name}.new` : name));
  if (objects !== null) await copyObjects(from, dataDir);
  await rename(join(dataDir, `${DATABASE_FILE}.new`), join(dataDir, DATABASE_FILE));
  await sync(dataDir);
}

/**
 * Restores a backup into a data folder, which must be new or empty: nothing is overwritten. The backup is checked before,
 * and the database after. If that fails, what was copied is removed. Throws a Refused, and DATA_FOLDER_IN_USE.
 */
export async function restoreBackup({ folder, dataDir }: { folder: string; dataDir: string }): Promise<Manifest> {
  const manifest = readManifest(folder);
  await requireWhole(folder, manifest);
  makeFolder(dataDir);
  const unlock = lockFolder(dataDir);
  try {
    const [found] = (await readdir(dataDir)).filter((name) => !name.startsWith(LOCK));
    if (found !== undefined)
      throw new Refused(
        `${resolve(dataDir)} has data (${found}), and a restore overwrites nothing: move it away, or name another folder`,
      );
    try {
      await fill(folder, dataDir, manifest);
      const { faults } = examineDatabase(dataDir, { whole: true });
      if (faults.length > 0) throw new Refused(`the restored database cannot be used: ${faults.join('; ')}`);
    } catch (error) {
      for (const name of await readdir(dataDir))
        if (!name.startsWith(LOCK)) await rm(join(dataDir, name), { recursive: true, force: true });
      throw error;
    }
  } finally {
    unlock();
  }
  return manifest;
}
