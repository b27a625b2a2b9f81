import type SqliteDatabase from 'better-sqlite3';
import { threadTime } from '../../../runtime/thread-time.ts';
import type { Vault } from '../../encryption/vault.ts';
import { createEffects } from '../effects.ts';
import { endedUnit } from '../ended-unit.ts';
import type { UnitOfWork } from '../sql.ts';
import { createUnitQueue, type QueueOptions, UNITS_PER_COMMIT, type Waiting } from '../unit-queue.ts';
import { createStatements } from './statements.ts';
import { isStorageFault, unavailable } from './trouble.ts';

interface Done extends Waiting {
  outcome: { value: unknown } | { cause: unknown };
  onCommit: (() => void)[];
  onRollback: (() => void)[];
}

/**
 * Milliseconds of processor time that the units of one commit may take, because everything else shares the event loop
 * with them. The limit is the time that the disk takes for a commit, so that units get at least as much time as the
 * disk; but it is between `least` and `most`.
 */
const RUN_MS = { least: 4, most: 8 };
/** The bound on the units of one commit is never less than this, however slow the units are. */
const FEWEST = 16;
/** One in so many commits is measured. A measured commit counts with this weight in the moving average. */
const MEASURED = 4;
const WEIGHT = 0.2;

/** Decides how many units a commit takes, from the time that units and the disk took before. */
function createBatchSize() {
  let unitMs = 0.05;
  let diskMs = 0;
  let commits = 0;
  return {
    /** Whether to measure this commit: reading the processor time has a cost, so only some are measured. */
    measures(): boolean {
      commits += 1;
      return commits % MEASURED === 0;
    },
    most(): number {
      const runMs = Math.min(RUN_MS.most, Math.max(RUN_MS.least, diskMs));
      return Math.max(FEWEST, Math.min(UNITS_PER_COMMIT, Math.floor(runMs / unitMs)));
    },
    took(units: number, runMs: number, commitMs: number): void {
      unitMs += WEIGHT * (Math.max(0.001, runMs / units) - unitMs);
      diskMs += WEIGHT * (commitMs - diskMs);
    },
  };
}

interface Options extends Pick<QueueOptions, 'ownerOf'> {
  connection: SqliteDatabase.Database;
  vault: Vault;
  /** Waits until the disk has all that was committed. Returns undefined when it has waited already. */
  sync(): Promise<void> | undefined;
  /** Resolves when a commit may begin; undefined: at once. */
  busy(): Promise<unknown> | undefined;
  observe(commit: { seconds: number; committed: number; rolledBack: number }): void;
  /** Called when a whole commit failed. */
  onFailed(cause: unknown): void;
  onEffectError(cause: unknown): void;
}

/** The error of the unit that ran last, if that unit failed. */
const failureOf = (done: Done[]): { cause: unknown } | undefined => {
  const outcome = done.at(-1)?.outcome;
  return outcome && 'cause' in outcome ? outcome : undefined;
};

/**
 * Group commit, in phases that repeat while units wait:
 *
 * 1. Gather (see createUnitQueue): requests from many sockets share one wait for the disk.
 * 2. Run: BEGIN, then the units, one after another. A unit that throws before it has changed anything is just left out.
 *    When one throws later, all are rolled back and run again, each in a savepoint of its own, so that the failing one is
 *    rolled back alone. Savepoints take an eighth of the statements' time and are hardly ever needed, so the first run has none.
 * 3. Settle: COMMIT, wait for the disk, then the units' effects in order, then the answers.
 *
 * A COMMIT that fails rolls all units back and rejects each with DATABASE_UNAVAILABLE; so does a statement that fails for
 * lack of disk space.
 */
export function createGroupCommit({ connection, vault, sync, busy, ...options }: Options) {
  const { observe, onFailed, onEffectError, ownerOf } = options;
  const size = createBatchSize();
  /** A commit that is not known to be on the disk. */
  let unsettled: PromiseWithResolvers<void> | undefined;
  let changed = false; // whether the running unit has changed the database
  /** The failure of a statement with which SQLite has ended the transaction, as a full disk does. */
  let ending: { cause: unknown } | undefined;
  const sql = createStatements(connection, {
    changed: () => {
      changed = true;
    },
    failed(cause) {
      if (!connection.inTransaction) ending ??= { cause };
    },
  });
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  const rollback = connection.prepare('ROLLBACK');
  const savepoint = connection.prepare('SAVEPOINT unit');
  const release = connection.prepare('RELEASE unit');
  const rollbackTo = connection.prepare('ROLLBACK TO unit');
  const { run: effects, undo } = createEffects(onEffectError);

  async function runUnit(unit: Waiting, inSavepoint: boolean): Promise<Done> {
    const onCommit: (() => void)[] = [];
    const onRollback: (() => void)[] = [];
    let ended = false;
    // Without a transaction a statement would be a commit of its own, although its unit fails.
    const isOver = (): boolean => ended || ending !== undefined;
    const refusal = (): unknown => (ending ? ending.cause : endedUnit());
    const late = (): Promise<never> => Promise.reject(refusal());
    const port: UnitOfWork = {
      all: (text, ...values) => (isOver() ? late() : sql.all(text, ...values)),
      get: (text, ...values) => (isOver() ? late() : sql.get(text, ...values)),
      run: (text, ...values) => (isOver() ? late() : sql.run(text, ...values)),
      insert: (text, ...values) => (isOver() ? late() : sql.insert(text, ...values)),
      later(text, values, told) {
        if (isOver()) throw refusal();
        sql.later(text, values, told);
      },
      insertLater(text, values, inserted) {
        if (isOver()) throw refusal();
        sql.insertLater(text, values, inserted);
      },
      insertReturning(text, values, inserted) {
        if (isOver()) throw refusal();
        sql.insertReturning(text, values, inserted);
      },
      forUpdate: '', // needless, because units run one after another
      forRemoval: '',
      whileThere: '',
      skipLocked: '',
      vault,
      onCommit: (effect) => onCommit.push(effect),
      onRollback: (effect) => onRollback.push(effect),
    };
    changed = false;
    if (inSavepoint) savepoint.run();
    try {
      const value = await unit.work(port);
      ended = true;
      if (inSavepoint) release.run();
      return { ...unit, outcome: { value }, onCommit, onRollback };
    } catch (cause) {
      ended = true;
      if (inSavepoint && connection.inTransaction) {
        rollbackTo.run();
        release.run();
      }
      undo(onRollback);
      // The statements of all other units would fail as well, so the whole commit is given up.
      if (isStorageFault(cause)) throw cause;
      return { ...unit, outcome: { cause }, onCommit: [], onRollback: [] };
    }
  }

  /**
   * Runs the units into `done`. Returns false when a unit failed after it had changed the database, so that all must be
   * rolled back.
   */
  async function runAll(batch: Waiting[], done: Done[], inSavepoints: boolean): Promise<boolean> {
    ending = undefined;
    begin.run();
    for (const unit of batch) {
      done.push(await runUnit(unit, inSavepoints));
      // A full disk makes SQLite end the whole transaction; later units would then be committed without the earlier ones.
      if (!connection.inTransaction)
        throw new Error('the database ended the transaction', { cause: failureOf(done)?.cause });
      if (!inSavepoints && changed && failureOf(done)) return false;
    }
    return true;
  }

  function takeBack(done: Done[]): void {
    if (connection.inTransaction) rollback.run();
    for (const unit of done.splice(0).reverse()) undo(unit.onRollback);
  }

  async function commitOnce(batch: Waiting[]): Promise<undefined> {
    const free = busy();
    if (free) await free;
    const started = performance.now();
    const isMeasured = size.measures();
    const before = isMeasured ? threadTime() : 0;
    const done: Done[] = [];
    let ranMs = 0;
    let ranAt = started;
    try {
      if (!(await runAll(batch, done, false))) {
        takeBack(done);
        await runAll(batch, done, true);
      }
      if (isMeasured) ranMs = threadTime() - before;
      ranAt = performance.now();
      commit.run();
    } catch (cause) {
      takeBack(done);
      onFailed(cause);
      for (const unit of batch) unit.reject(unavailable(cause));
      observe({ seconds: (performance.now() - started) / 1000, committed: 0, rolledBack: batch.length });
      return undefined;
    }
    const synced = sync();
    if (synced) {
      unsettled = Promise.withResolvers();
      await synced;
    }
    if (isMeasured) size.took(batch.length, ranMs, performance.now() - ranAt);
    for (const unit of done) effects(unit.onCommit);
    unsettled?.resolve();
    unsettled = undefined;
    let rolledBack = 0;
    for (const unit of done) {
      if ('value' in unit.outcome) unit.resolve(unit.outcome.value);
      else {
        rolledBack += 1;
        unit.reject(unit.outcome.cause);
      }
    }
    observe({
      seconds: (performance.now() - started) / 1000,
      committed: done.length - rolledBack,
      rolledBack,
    });
    return undefined;
  }

  return {
    ...createUnitQueue(commitOnce, { perCommit: size.most, ownerOf }),
    /** Resolves when the last commit is on the disk and its effects have run; undefined when they have. */
    settled: (): Promise<void> | undefined => unsettled?.promise,
  };
}
