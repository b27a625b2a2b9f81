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

let created: Promise<Buffer> | undefined;

/**
 * Writes a database with all tables and no rows into the data folder. To apply all migrations takes four times as long
 * as to open such a copy, so a process applies them once.
 */
export async function writeNewDatabase(folder: string): Promise<void> {
  created ??= create();
  writeFileSync(join(folder, 'lapel.db'), await created, { mode: 0o600 });
}
