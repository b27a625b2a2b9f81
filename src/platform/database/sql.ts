/** What may be bound to a statement: the types that SQLite and PostgreSQL share. */
export type SqlValue = string | number | Buffer | null;

/**
 * The port to the database. Text is written by hand in the subset that SQLite and PostgreSQL share, with `?` for
 * parameters; statements are prepared once and cached by their text, so the text must never contain a value.
 * SQLite prepares a statement anew at every execution when a parameter could change its plan: one after LIMIT, and one that
 * a column equals while another column orders the rows. It takes several times as long as a small query itself; where it
 * matters the text says `LIMIT (? + 0)` and `column IN (?)`, which mean the same and are no such parameters.
 */
export interface Sql {
  /** All rows. */
  all<Row>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** The first row, or undefined. */
  get<Row>(text: string, ...values: SqlValue[]): Promise<Row | undefined>;
  /** For statements without rows; answers how many rows were changed. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
}

/** What a SELECT ends with; see `forUpdate` of a unit of work. */
export type Lock = '' | ' FOR NO KEY UPDATE';

/**
 * The statements of one unit of work, and what must happen when its fate is known. Inside a unit await nothing but
 * these methods: units run one after another, and one that waits for anything else holds up all writers. A unit can be
 * run a second time, after its rollback: what it changes in memory belongs in `onCommit`, or is undone in `onRollback`.
 * Statements that a unit issues without waiting for one another go to a server together, in no certain order.
 */
export interface UnitOfWork extends Sql {
  /**
   * What a SELECT ends with whose rows nobody else may change or lock before this unit has ended; nothing where units run one
   * after another. Whoever reads what a decision rests on says it, in one order everywhere: developer, application, device,
   * and then the rest by its key; else two units wait for each other.
   */
  readonly forUpdate: Lock;
  /** The same, leaving out the rows that another unit has locked. */
  readonly skipLocked: '' | ' FOR NO KEY UPDATE SKIP LOCKED';
  /** For an INSERT of one row to which the database gives its number: answers that number. */
  insert(text: string, ...values: SqlValue[]): Promise<number>;
  /** Runs synchronously right after the COMMIT that holds this unit, in the order of the units, before anyone is answered. */
  onCommit(effect: () => void): void;
  /** Runs when this unit, or the whole commit, is rolled back: at once, latest first, before the next unit runs. */
  onRollback(effect: () => void): void;
}

/**
 * Runs `work` as a unit of work of a shared commit; settles after the commit. A `work` that throws rolls back alone. `key`
 * names the device whose rows it decides on, and promises that it decides on nothing else than that device's rows, under the
 * lock of the device's row, which it then has: such units may run side by side with those of other devices, and see what is
 * not yet committed of them. Those of one device run one after another; one without a key runs alone.
 */
export type Transact = <Result>(work: (unit: UnitOfWork) => Promise<Result>, key?: string) => Promise<Result>;

export interface Database {
  /**
   * Units of work of other devices and other processes run at the same time as one of this process: rows that it has not
   * locked may change between its statements, and numbers that this process remembers may be out of date.
   */
  readonly concurrent: boolean;
  /** Each statement is a round trip to a server: few that ask for much are cheaper than many that ask for little. */
  readonly remote: boolean;
  /** The last committed state, on a connection that cannot write. Never for a decision that a unit of work then relies on. */
  readonly read: Sql;
  /** The same on a thread or connection of its own: for what looks at many rows, and no caller waits for. */
  readonly aside: Sql;
  /** The same for what heals: a server that has gone without a word is given up after seconds. */
  readonly prompt: Sql;
  /** Bytes of the database and of its write-ahead log; `free` are bytes of the database that are used again. */
  size(): Promise<{ database: number; log: number; free: number }>;
  readonly transact: Transact;
  /**
   * The same for work that nobody waits for. On one connection it joins a commit that others ask for, or gets one after a few
   * milliseconds; where a statement goes over a network it has a connection and commits of its own, so that nobody waits for it.
   * It must lock rows in the order in which all others do.
   */
  readonly transactSoon: Transact;
  /** The same in the commits of those who wait, everywhere: for what changes the rows that they are about to change. */
  readonly transactAlong: Transact;
  /** The same for work that can come in crowds, as when a fleet connects: little of it goes at once, much of it shares commits. */
  readonly transactInCrowd: Transact;
  /** Resolves when no unit of work is waiting or running. */
  idle(): Promise<void>;
  /**
   * A connection that somebody else has made asks which database it has led to: when that is another one than here, the
   * connections here are made again. Only where the database is a server's.
   */
  seenAt?(ask: <Row>(text: string) => Promise<Row[]>): Promise<void>;
  /** True while the database answers and can be written; the readiness probe asks. */
  healthy(): Promise<boolean>;
  close(): Promise<void>;
}
