import { statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { createVault, type Vault } from '../../encryption/vault.ts';
import type { NewLife, Raised } from '../number-floor.ts';
import type { Database, Sql, SqlValue } from '../sql.ts';
import type { QueueOptions } from '../unit-queue.ts';
import { createAside } from './aside.ts';
import { DATABASE_FILE } from './database-file.ts';
import { defineEventNumbers } from './event-numbers.ts';
import { lockFolder } from './folder-lock.ts';
import { createGroupCommit } from './group-commit.ts';
import { beginLife } from './life.ts';
import { createLogCopying } from './log-copying.ts';
import { createLogThread } from './log-thread.ts';
import { createLogTruncation } from './log-truncation.ts';
import { migrate } from './migrations.ts';
import { checkStart, damaged, isDamage } from './start-check.ts';
import { createStatements } from './statements.ts';
import { isStorageFault } from './trouble.ts';
import { createWritable } from './writable.ts';
import { openWriter } from './writer.ts';

export interface SqliteOptions {
  /** The data folder; it must exist. The files are `lapel.db` (with `-wal` and `-shm`) and `lock.db`. */
  folder: string;
  nowMicros: number;
  /**
   * Returns the identifier and the time that a raise of the numbers is recorded with. Without this function no number
   * is raised, so none may be given out.
   */
  newLife?(): NewLife;
  /** Called when the numbers were raised, which happens at each start except the first. */
  onRaised?(raised: Raised): void;
  onCommit?(commit: { seconds: number; committed: number; rolledBack: number }): void;
  onEffectError?(cause: unknown): void;
  /** `onAway` is called when the database cannot be written, then once a minute; `onBack` when it can be written again. */
  onAway?(cause: unknown): void;
  onBack?(): void;
  /** Milliseconds without a commit after which the write-ahead log is emptied. */
  quietMs?: number;
  /** Returns the developer of a device, if it is known. */
  ownerOf?: QueueOptions['ownerOf'];
  /** Encrypts secrets of rows; without it they are stored as they are. */
  vault?: Vault;
}

const rethrow = (cause: unknown): never => {
  throw cause;
};

/** Changes no value, but makes SQLite write. */
const WRITE_SOMETHING = 'UPDATE migrations SET applied_at = applied_at WHERE number = 1';

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Reads only what is settled: rows of a commit that a power cut can still undo must not be told to anybody. `settled` is that
 * of the group commit.
 */
function readsSettled(sql: Sql, settled: () => Promise<void> | undefined): Sql {
  return {
    ...sql,
    all: <Row>(text: string, ...values: SqlValue[]) =>
      settled()?.then(() => sql.all<Row>(text, ...values)) ?? sql.all<Row>(text, ...values),
    get: <Row>(text: string, ...values: SqlValue[]) =>
      settled()?.then(() => sql.get<Row>(text, ...values)) ?? sql.get<Row>(text, ...values),
  };
}

/**
 * Reads committed rows. While no unit of work uses the writer's connection, reads run on it, because a commit empties
 * the page cache of every other connection. Otherwise they run on the reader's connection.
 */
function createReading({
  writer,
  reader,
  vault,
}: {
  writer: Sqlite.Database;
  reader: Sqlite.Database;
  vault: Vault;
}): Sql {
  const apart = createStatements(reader);
  const own = createStatements(writer, { readOnly: true });
  const free = (): typeof own => (writer.inTransaction ? apart : own);
  return {
    all: (text, ...values) => free().all(text, ...values),
    get: (text, ...values) => free().get(text, ...values),
    run: apart.run, // SQLite refuses to write on the connection for reading
    vault,
  };
}

/**
 * Opens the database: creates, migrates and checks it, in the same time for any size. Throws with a clear message when it
 * must not be used.
 */
export function openSqlite(options: SqliteOptions): Database {
  const { folder, nowMicros, onCommit, onEffectError = rethrow, quietMs, ownerOf, vault = createVault() } = options;
  const { onAway = () => undefined, onBack = () => undefined } = options;
  const unlock = lockFolder(folder);
  const opened: Sqlite.Database[] = [];
  try {
    const file = join(folder, DATABASE_FILE);
    const writer = openWriter(file);
    opened.push(writer);
    checkStart(writer);
    migrate(writer, nowMicros);
    const raised = options.newLife && beginLife({ connection: writer, folder, ...options.newLife() });
    if (raised) options.onRaised?.(raised);
    defineEventNumbers(writer);
    const reader = new Sqlite(file, { readonly: true });
    const aside = createAside(file, vault);
    // From now on logThread waits for the disk.
    const logThread = createLogThread({ connection: writer, file, onError: onEffectError });
    writer.pragma('synchronous = NORMAL');
    writer.pragma('wal_autocheckpoint = 0');
    const copying = createLogCopying(writer, logThread.copy);
    const pageSize = reader.pragma('page_size', { simple: true }) as number;
    const freePages = (): number => reader.pragma('freelist_count', { simple: true }) as number;
    const writable = createWritable({
      folder,
      write: () => group.transact((unit) => unit.run(WRITE_SOMETHING)),
      onAway,
      onBack,
    });
    opened.push(reader);
    const group = createGroupCommit({
      connection: writer,
      observe(made) {
        if (made.committed > 0) {
          truncation.committed();
          copying.committed();
        }
        onCommit?.(made);
      },
      onFailed: writable.failed,
      onEffectError,
      ownerOf,
      vault,
      sync: logThread.sync,
      busy: logThread.busy,
    });
    const asideSettled = readsSettled(aside.sql, group.settled);
    const truncation = createLogTruncation({
      file: `${file}-wal`,
      isRunning: group.isRunning,
      empty: logThread.empty,
      onError: (cause) => (isStorageFault(cause) ? writable.failed(cause) : onEffectError(cause)),
      ...(quietMs !== undefined && { quietMs }),
    });
    // A process that was killed may have left rows in the write-ahead log.
    if (bytesOf(`${file}-wal`) > 0) truncation.committed();
    return {
      shared: false,
      lookAgainMs: Number.POSITIVE_INFINITY,
      sideBySide: false,
      roundTrips: false,
      statementsAtOnce: 1,
      ownShare: 1,
      read: readsSettled(createReading({ writer, reader, vault }), group.settled),
      transact: group.transact,
      idle: group.idle,
      hurry: group.hurry,
      aside: asideSettled,
      prompt: asideSettled,
      // Units run one after another, and a read sees all that were committed.
      decidedEvents: async () => Number.MAX_SAFE_INTEGER,
      size: async () => ({ database: bytesOf(file), log: bytesOf(`${file}-wal`), free: freePages() * pageSize }),
      async healthy() {
        logThread.check();
        await writable.check();
        return reader.prepare('SELECT 1').get() !== undefined;
      },
      async close() {
        await group.close();
        truncation.stop();
        await aside.close();
        await logThread.close();
        reader.close();
        writer.close();
        unlock();
      },
    };
  } catch (cause) {
    for (const connection of opened) connection.close();
    unlock();
    throw isDamage(cause) ? damaged((cause as Error).message, cause) : cause;
  }
}
