import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

const PAGE = 4096;

/** Overwrites a page of a certain kind in a table or index. */
export function damage(folder: string, name: string, kind: 'leaf' | 'overflow'): void {
  const file = join(folder, 'lapel.db');
  const raw = new Sqlite(file);
  raw.pragma('wal_checkpoint(TRUNCATE)');
  // The first page of a long value: the last one has nothing that a check could compare.
  const order = kind === 'leaf' ? 'DESC' : 'ASC';
  const page = raw
    .prepare(`SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path ${order} LIMIT 1`)
    .pluck()
    .get(name, kind) as number;
  raw.close();
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(PAGE, 0xff), 0, PAGE, (page - 1) * PAGE);
  closeSync(handle);
}
