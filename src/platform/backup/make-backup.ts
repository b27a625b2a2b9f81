import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { TOKEN_FILE } from '../../runtime/administrator-token.ts';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import { Refused } from '../../runtime/refused.ts';
import { copyDatabase } from '../database/sqlite/copy-database.ts';
import { DATABASE_FILE } from '../database/sqlite/database-file.ts';
import { examineDatabase } from '../database/sqlite/examine.ts';
import { KEY_FILE } from '../objects/store-key.ts';
import { copy, copyObjects, digestOf, ignoreMissing, sync } from './files.ts';
import { type Manifest, writeManifest } from './manifest.ts';

/** The keys in a data folder. Each is made at the first start that needs it. */
const KEYS = [TOKEN_FILE, KEY_FILE];

interface Parts {
  clock: Pick<Clock, 'now'>;
  version: string;
  /** The data folder; a service may use it. */
  dataDir: string;
  /** The folder of the backup: new, or empty. */
  folder: string;
  /** Whether the objects of the embedded store are copied. */
  withObjects: boolean;
}

/** Throws a Refused if the folder has anything in it. */
export async function requireEmpty(folder: string): Promise<void> {
  const [found] = await readdir(folder).catch(ignoreMissing<string[]>(() => []));
  if (found !== undefined) throw new Refused(`${folder} is not empty (it has ${found}): name a new folder`);
}

/** Copies the database and the keys, and checks the copy of the database. */
async function copyFiles({ dataDir }: Parts, to: string): Promise<Manifest['files']> {
  await copyDatabase(join(dataDir, DATABASE_FILE), join(to, DATABASE_FILE));
  const { faults } = examineDatabase(to, { whole: true });
  if (faults.length > 0)
    throw new Refused(`the database of ${dataDir} is damaged, so its copy is no backup: ${faults.join('; ')}`);
  const names = [DATABASE_FILE];
  for (const name of KEYS) {
    const found = await copy(join(dataDir, name), join(to, name)).then(
      () => true,
      ignoreMissing(() => false),
    );
    if (found) names.push(name);
  }
  return Promise.all(
    names.map(async (name) => {
      const file = join(to, name);
      return { name, bytes: (await stat(file)).size, sha256: await digestOf(file) };
    }),
  );
}

/**
 * Makes a backup of a data folder: the database as it is at one moment, the keys, and the objects of the embedded store.
 * The database is copied first, so every object that it knows is in the backup, unless it was removed meanwhile. The
 * folder gets its name at the end, when the copy was checked and is on the disk. Throws a Refused.
 */
export async function makeBackup(parts: Parts): Promise<Manifest> {
  const { clock, version, dataDir, withObjects } = parts;
  const folder = resolve(parts.folder);
  if (!existsSync(join(dataDir, DATABASE_FILE)))
    throw new Refused(`${dataDir} has no database of the service (${DATABASE_FILE})`);
  await requireEmpty(folder);
  const draft = `${folder}.unfinished`;
  await rm(draft, { recursive: true, force: true }); // of a backup that broke off
  await mkdir(dirname(draft), { recursive: true });
  await mkdir(draft, { mode: 0o700 });
  try {
    const at = toUtc(clock.now());
    const files = await copyFiles(parts, draft);
    const objects = withObjects ? await copyObjects(dataDir, draft) : null;
    const manifest: Manifest = { format: 1, lapel: version, at, files, objects };
    await writeManifest(draft, manifest);
    await sync(draft);
    await rmdir(folder).catch(ignoreMissing(() => undefined)); // it is empty
    await rename(draft, folder);
    await sync(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
