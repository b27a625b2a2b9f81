import type { Millis } from '../../runtime/units.ts';
import type { Vault } from '../encryption/vault.ts';

/** The values that can be bound to a statement: the types that SQLite and PostgreSQL share. */
export type SqlValue = string | number | Buffer | null;

/**
 * The port to the database. Statements are written by hand in the subset that SQLite and PostgreSQL share, with `?` for
 * parameters; they are prepared once and cached by their text, so the text must never contain a value.
 * SQLite prepares a statement anew at each execution when a parameter could change its plan: a parameter after LIMIT, or
 * one that a column equals while another column orders the rows. That takes several times as long as a small query. Where
 * it matters, the text says `LIMIT (? + 0)` and `column IN (?)`, which mean the same and avoid it.
 */
export interface Sql {
  /** Returns all rows. */
  all<Row>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** Returns the first row, or undefined. */
  get<Row>(text: string, ...values: SqlValue[]): Promise<Row | undefined>;
  /**
   * Runs a statement without rows; returns the number of rows that were changed. For a write whose number decides what the
   * unit does next; any other write of a unit is issued with `later`.
   */
  run(text: string, ...values: SqlValue[]): Promise<number>;
  /** Encrypts the secrets of rows before they are stored, and decrypts those that were read. */
  readonly vault: Vault;
}

/** The end of a SELECT that locks its rows; see `forUpdate` of a unit of work. */
export type Lock = '' | ' FOR NO KEY UPDATE' | ' FOR UPDATE';

/**
 * The statements of one unit of work, and the effects of its commit or rollback. A unit awaits only these methods: on
 * SQLite units run one after another, so one that awaits anything else delays all writers. A unit can run a second time
 * after a rollback; its changes in memory therefore belong in `onCommit`, or are undone in `onRollback`.
 * Statements that a unit issues without awaiting each go to PostgreSQL together. Those of a unit that has a commit of
 * its own stay in their order, except that those with the same text follow one another; those of units that share a commit
 * have no guaranteed order.
 */
export interface UnitOfWork extends Sql {
  /**
   * The end of a SELECT that locks its rows until this unit has ended; empty on SQLite, where units run one after another.
   * Every read that a decision depends on uses it, always in this order: developer, application, device, then the rest by
   * key. Another order would let two units wait for each other.
   */
  readonly forUpdate: Lock;
  /**
   * Like `forUpdate`, for a unit that removes the row with all that belongs to it: it also waits for units that add
   * something to the row by `whileThere`, and lets none begin.
   */
  readonly forRemoval: '' | ' FOR UPDATE';
  /**
   * The end of a SELECT of rows that something is added to, as the one of INSERT ... SELECT: until this unit has ended, the
   * rows cannot be removed. Without it a removal of the same moment would not see what is added, and leave it behind.
   * Units that change the rows do not wait for it.
   */
  readonly whileThere: '' | ' FOR KEY SHARE';
  /** Like `forUpdate`, but leaves out rows that another unit has locked. */
  readonly skipLocked: '' | ' FOR NO KEY UPDATE SKIP LOCKED';
  /**
   * Runs an INSERT of one row whose number the database assigns; returns that number. For a unit whose next statements need
   * the number. It is apart from `run`, because on PostgreSQL it reads the number back, and on SQLite RETURNING would double
   * its time.
   */
  insert(text: string, ...values: SqlValue[]): Promise<number>;
  /**
   * Like `run`, for a write on whose outcome nothing in the unit depends. To PostgreSQL it goes with the next statement or
   * with the COMMIT, so it costs no round trip; when it fails, the unit fails. It is no option of `run`, because a unit that
   * awaited it would wait for its own COMMIT. `changed` is called with the number of rows
   * that were changed, before the next unit of the same device begins and before the effects of the commit.
   */
  later(text: string, values: readonly SqlValue[], changed?: (count: number) => void): void;
  /**
   * Like `later`, for an INSERT of one row whose number the database assigns; `inserted` is called with that number. For a
   * unit that needs the number only for the effects of its commit.
   */
  insertLater(text: string, values: readonly SqlValue[], inserted: (identity: number) => void): void;
  /**
   * Like `later`, for an INSERT of one row with RETURNING; `inserted` is called with the columns. For a unit that needs what
   * the database gives to the row only for the effects of its commit.
   */
  insertReturning<Row>(text: string, values: readonly SqlValue[], inserted: (row: Row) => void): void;
  /**
   * Registers an effect that runs synchronously right after the COMMIT, in the order of the units, before anyone is
   * answered.
   */
  onCommit(effect: () => void): void;
  /**
   * Registers an effect that runs when this unit, or the whole commit, is rolled back: at once, the latest first, before the
   * next unit.
   */
  onRollback(effect: () => void): void;
}

/**
 * How soon a unit of work is committed:
 *
 * - `now`: with the units that have come since the last commit.
 * - `crowd`: for work that can come in bursts, as when a fleet connects. A few units are committed at once; in a burst they
 *   wait to share a commit.
 * - `soon`: for work that no caller waits for. On SQLite it joins the next commit of other units, or gets one after a few
 *   milliseconds. On PostgreSQL it has a connection and commits of its own, so that it delays no caller. It must lock rows
 *   in the same order as all other units.
 * - `along`: like `soon`, but always in the commits of `now`: for units that change the same rows as those do.
 */
export type Pace = 'now' | 'crowd' | 'soon' | 'along';

export interface UnitOptions {
  /**
   * The one device on whose rows alone the unit decides; its row is then locked for the unit. On PostgreSQL such a unit runs
   * at the same time as units of other devices, and may see rows that they have not committed yet. Units of one device run
   * one after another. There a unit without a device has a commit of its own, beside the others, so that nobody waits for
   * it.
   */
  device?: string | undefined;
  /**
   * The device, or the batch of devices that enrol, or both, which a unit without `device` is about. The unit locks them
   * itself, in their places among its other locks. On PostgreSQL only units of the same device or batch wait for it.
   */
  about?: string | readonly string[] | undefined;
  /**
   * For whom a unit without `device` works, such as an application: the units of each wait for their turn, so that many of
   * one delay another one little. Without it the developer of the device counts.
   */
  whose?: string | undefined;
  /** `now` if it is left out. */
  pace?: Pace | undefined;
}

/**
 * Runs `work` as a unit of work in a commit that units share; settles after the commit. A `work` that throws is rolled back
 * alone.
 */
export type Transact = <Result>(work: (unit: UnitOfWork) => Promise<Result>, options?: UnitOptions) => Promise<Result>;

export interface Database {
  /**
   * Whether other processes write to the database too. Then a number that this process has counted may be too low, what it
   * remembers may be out of date, and it may never hear of a row, because a hint of another process can be lost.
   */
  readonly shared: boolean;
  /**
   * Milliseconds for which rows count as they were read last. Then work looks at them again, because another process may
   * have changed them and its hint may be lost. Infinity: no other process writes, so the one that changes a row wakes the
   * work.
   */
  readonly lookAgainMs: Millis;
  /**
   * Whether units of work run side by side. Then two that lock the same rows in different orders wait for each other, so
   * units lock in the order of their keys, and one with a device as its key locks no rows of other devices.
   */
  readonly sideBySide: boolean;
  /**
   * Whether a statement is a round trip to a server. Then statements that do not need one another are issued together, and
   * one large statement is cheaper than many small ones. Otherwise a statement whose rows are not needed is in vain.
   */
  readonly roundTrips: boolean;
  /**
   * How many statements a long unit issues before it awaits them. It looks at the time only then, so there are few where a
   * statement takes time of this process, and many where those that are issued together share a round trip.
   */
  readonly statementsAtOnce: number;
  /**
   * The share of the time of a unit of work, or of a read, in which this process itself works; with a server it mostly waits.
   * The pauses of background work are in proportion to this share.
   */
  readonly ownShare: number;
  /**
   * Reads the last committed state, on a connection that cannot write. Never for a decision of a unit of work. For queries
   * that find few rows by an index, as those that a caller waits for; PostgreSQL plans no others well here.
   */
  readonly read: Sql;
  /**
   * Like `read`, on a thread or connection of its own: for queries over many rows that no caller waits for. One of them may
   * take half a minute, and the next one waits for it.
   */
  readonly aside: Sql;
  /**
   * Like `aside`, for the recovery of devices and receivers whose node has died: it must not wait behind a query of `aside`,
   * and it fails after a few seconds when the server stops answering. A database without other nodes has no such reads.
   */
  readonly prompt: Sql;
  /**
   * A number up to which all events (the rows with a number of `next_event_number()`) are decided: each of them is committed
   * and can be read, or will never be.
   */
  decidedEvents(): Promise<number>;
  /** Bytes of the database, of its write-ahead log, and of the free pages in the database that will be reused. */
  size(): Promise<{ database: number; log: number; free: number }>;
  readonly transact: Transact;
  /** Resolves when no unit of work is waiting or running. */
  idle(): Promise<void>;
  /** From now on, no unit of work is kept so that it can join a commit, until the returned function is called. */
  hurry(): () => void;
  /** A sentence about settings of the server that have changed, as `healthy` has found them; undefined: none has. */
  doubt?(): string | undefined;
  /**
   * Asks a connection from elsewhere (through `ask`) which database it has reached. If that is another database than this
   * object's, all connections of this object are opened again. Present only for PostgreSQL.
   */
  seenAt?(ask: <Row>(text: string) => Promise<Row[]>): Promise<void>;
  /** Whether the database answers and can be written, for the readiness probe; rejects with the reason if it knows one. */
  healthy(): Promise<boolean>;
  close(): Promise<void>;
}
