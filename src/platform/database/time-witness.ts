import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TimeWitness } from '../../runtime/clock-trust.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Database, Sql } from './sql.ts';

/** The file of the data folder that says until when the service has lived. */
const SEEN_FILE = 'seen-time';

/** The latest time in the database, also for a data folder without the file: one of a former release, or a restored one. */
export async function latestIn(sql: Sql): Promise<Micros | null> {
  const row = await sql.get<{ transactions: Micros | null; history: Micros | null }>(
    `SELECT (SELECT created_at FROM transactions ORDER BY transaction_id DESC LIMIT 1) AS transactions,
       (SELECT MAX(at) FROM fleet_history WHERE step = 10) AS history`,
  );
  const times = [row?.transactions, row?.history].filter((time) => time !== null && time !== undefined);
  return times.length === 0 ? null : Math.max(...times);
}

/** Remembers in the data folder that the service has lived until a time. A file that is lost in a crash is no harm. */
export async function noteSeenTime(folder: string, at: Micros): Promise<void> {
  const draft = join(folder, `${SEEN_FILE}.new`);
  await writeFile(draft, `${at}\n`);
  await rename(draft, join(folder, SEEN_FILE));
}

/** The data folder, and the database in it, as a witness of the time: they know the latest time at which it ran. */
export const createFolderWitness = (folder: string, database: Database): TimeWitness => ({
  hasClock: false,
  async seen() {
    const text = await readFile(join(folder, SEEN_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    return /^\d{1,16}\s*$/.test(text) ? Number(text) : latestIn(database.read);
  },
  note: (at) => noteSeenTime(folder, at),
});

/** The server of the database as a witness of the time. */
export const createServerWitness = (database: Database): TimeWitness => ({
  hasClock: true,
  async seen() {
    const row = await database.read.get<{ now: number }>(
      'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now',
    );
    return row?.now ?? null;
  },
  note: async () => undefined,
});
