import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { keepDatabase } from './postgres/databases.ts';
import type { World } from './world.ts';

/** Saves the database between two runs of the service; the returned function restores it. */
export async function keepDatabaseOf(t: Test, world: World): Promise<() => Promise<void>> {
  if (world.databaseUrl !== null) return keepDatabase(t, world.databaseUrl);
  const kept = join(world.dataDir, 'kept.db');
  copyFileSync(join(world.dataDir, 'lapel.db'), kept);
  return async () => {
    for (const end of ['-wal', '-shm']) rmSync(join(world.dataDir, `lapel.db${end}`), { force: true });
    copyFileSync(kept, join(world.dataDir, 'lapel.db'));
  };
}
