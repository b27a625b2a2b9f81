import { closeSync, openSync, readSync } from 'node:fs';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import { world } from '../world.ts';
import type { OpenLog } from '../world-parts.ts';

interface Parts {
  connection: Database;
  file: string;
  onError(cause: unknown): void;
}

/** Where the index of a write-ahead log has the number of its last frame, and the salt ("WAL-Index Header" of SQLite). */
const LAST_FRAME = { at: 16, length: 4 };
const SALT = { at: 32, length: 8 };
/** That of a log which is empty. */
const NO_SALT = '0'.repeat(2 * SALT.length);
/** The most pages that SQLite allows a database, which is the bound that it has by itself. */
const MOST_PAGES = 0xff_ff_ff_fe;

/** Reads the frames that the log has now, and the salt by which they are told from those of a former round. */
function openFrames(file: string) {
  const index = openSync(`${file}-shm`, 'r');
  const bytes = Buffer.alloc(SALT.at + SALT.length - LAST_FRAME.at);
  return {
    seen(): { frames: number; salt: string } {
      readSync(index, bytes, 0, bytes.length, LAST_FRAME.at);
      return { frames: bytes.readUInt32LE(), salt: bytes.toString('hex', SALT.at - LAST_FRAME.at) };
    },
    close: (): void => closeSync(index),
  };
}

/** Waits for the disk of the world in place of `createLogThread`, and notes which frames it has. */
export function createLogThread({ connection, file }: Parts) {
  const { time, disk, logs, committed } = world();
  const { seen: framesNow, close: closeFrames } = openFrames(file);
  const { frames, salt } = framesNow();
  // Any commit can fail on a full disk, also one that adds no page to the database.
  const prepare = connection.prepare.bind(connection);
  connection.prepare = ((text: string) => {
    const statement = prepare(text);
    if (text === 'BEGIN IMMEDIATE') return { run: () => begin(statement) };
    if (text !== 'COMMIT') return statement;
    return {
      run() {
        if (disk.fails()) throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL');
        return statement.run();
      },
    };
  }) as unknown as typeof connection.prepare;
  /** The log as the last commit left it. */
  let committedLog = { frames, salt };
  /** A statement outside of a transaction is a commit of its own, for which nobody waits. */
  function begin(statement: Statement): unknown {
    const present = framesNow();
    if (present.frames !== committedLog.frames || present.salt !== committedLog.salt)
      world().broken('nothing is stored beside the commits', { before: committedLog, now: present });
    return statement.run();
  }
  /** When the last commit was made that the disk has, the event in which the disk got it, and the commit before it. */
  let settled = { at: time.now, in: 0 };
  let formerAt = 0;
  const log: OpenLog = {
    syncedFrames: frames,
    salt,
    knownUntil: () => (settled.in < time.turn ? settled.at : formerAt),
    close() {
      closeFrames();
      connection.close();
    },
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
      const seen = framesNow();
      committedLog = seen;
      silentSince = time.now;
      const at = time.now;
      committed();
      pending = new Promise((resolve) => {
        time.plan(disk.milliseconds(), 'disk', () => {
          note(seen);
          formerAt = settled.at;
          settled = { at, in: time.turn };
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
      if (isDone) {
        committedLog = framesNow();
        note({ frames: 0, salt: NO_SALT });
      }
      return isDone;
    },
    busy: (): Promise<unknown> | undefined => pending,
    check(): void {
      if (time.now - silentSince >= 2_000) throw new Error('the disk has not answered');
    },
    async close(): Promise<void> {
      await pending;
      closeFrames();
      logs.delete(file);
    },
  };
}
