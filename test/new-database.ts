import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../src/platform/database/sqlite/open-sqlite.ts';

async function create(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-new-database-'));
  try {
    await openSqlite({ folder, nowMicros: 0 }).close();
    return readFileSync(join(folder, 'lapel.db'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const created = await create();

/**
 * Writes a database with all tables and no rows into the data folder. To apply all migrations takes many times as long
 * as to open such a copy, so a process applies them once.
 */
export function writeNewDatabase(folder: string): void {
  writeFileSync(join(folder, 'lapel.db'), created, { mode: 0o600 });
}
