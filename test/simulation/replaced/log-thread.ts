import { closeSync, openSync, readSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { world } from '../world.ts';
import type { OpenLog } from '../world-parts.ts';

interface Parts {
  connection: Database;
  file: string;
  onError(cause: unknown): void;
}

/** Where the index of a write-ahead log has the number of its last frame ("WAL-Index Header" of the SQLite documents). */
const LAST_FRAME = 16;
/** The most pages that SQLite allows a database, which is the bound that it has by itself. */
const MOST_PAGES = 0xff_ff_ff_fe;
const SALT = { at: 16, length: 8 };

function bytesAt(file: string, at: number, length: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(length);
    readSync(descriptor, bytes, 0, length, at);
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

/** The frames that the log has now, and the salt by which they are told from those of a former round. */
export const framesOf = (file: string): { frames: number; salt: string } => ({
  frames: bytesAt(`${file}-shm`, LAST_FRAME, 4).readUInt32LE(),
  salt: bytesAt(`${file}-wal`, SALT.at, SALT.length).toString('hex'),
});

/** Waits for the disk of the world in place of `createLogThread`, and notes which frames it has. */
export function createLogThread({ connection, file }: Parts) {
  const { time, disk, logs } = world();
  const { frames, salt } = framesOf(file);
  // Any commit can fail on a full disk, also one that adds no page to the database.
  const prepare = connection.prepare.bind(connection);
  connection.prepare = ((text: string) => {
    const statement = prepare(text);
    if (text !== 'COMMIT') return statement;
    return {
      run() {
        if (disk.fails()) throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL');
        return statement.run();
      },
    };
  }) as unknown as typeof connection.prepare;
  const log: OpenLog = {
    syncedFrames: frames,
    salt,
    close: () => connection.close(),
    limit(isFull) {
      const pages = Number(connection.pragma('page_count', { simple: true }));
      connection.pragma(`max_page_count = ${isFull ? pages : MOST_PAGES}`);
    },
  };
  logs.set(file, log);
  if (disk.isFull) log.limit(true);
  let pending: Promise<void> | undefined;
  let silentSince = Number.POSITIVE_INFINITY;

  function note(seen: { frames: number; salt: string }): void {
    log.syncedFrames = seen.frames;
    log.salt = seen.salt;
  }

  return {
    sync(): Promise<void> {
      const seen = framesOf(file);
      silentSince = time.now;
      pending = new Promise((resolve) => {
        time.plan(disk.milliseconds(), 'disk', () => {
          note(seen);
          pending = undefined;
          silentSince = Number.POSITIVE_INFINITY;
          resolve();
        });
      });
      return pending;
    },
    copy(): void {
      if (!pending) connection.pragma('wal_checkpoint(PASSIVE)');
    },
    async empty(): Promise<boolean> {
      if (pending || connection.inTransaction) return false;
      const isDone = connection.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
      if (isDone) note(framesOf(file));
      return isDone;
    },
    busy: (): Promise<unknown> | undefined => pending,
    check(): void {
      if (time.now - silentSince >= 2_000) throw new Error('the disk has not answered');
    },
    async close(): Promise<void> {
      await pending;
      logs.delete(file);
    },
  };
}
