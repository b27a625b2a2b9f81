import type SqliteDatabase from 'better-sqlite3';
import { createIdle } from '../../idle.ts';
import type { Transact, UnitOfWork } from '../sql.ts';
import { createStatements } from './statements.ts';

// One commit takes at most so many units, so that a burst cannot hold the event loop for long.
const UNITS_PER_COMMIT = 256;

// Where several write at once, so many turns of the event loop are waited for as many units as the last commit had: a turn
// takes some 50 microseconds, a commit several times that. Whoever writes alone waits for one.
const TURNS = 4;

// A unit that nobody waits for looks so long for a commit to join. It is about the disk's time, not the domain's, so it is
// no business of the injected clock.
const PATIENCE_MILLISECONDS = 10;

// More of one kind in so many milliseconds are a crowd.
const CROWD = 10;
const CROWD_MILLISECONDS = 50;

interface Waiting {
  work: (unit: UnitOfWork) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (cause: unknown) => void;
}

interface Done extends Waiting {
  outcome: { value: unknown } | { cause: unknown };
  onCommit: (() => void)[];
  onRollback: (() => void)[];
}

interface Options {
  connection: SqliteDatabase.Database;
  /** `failed`: the commit as a whole could not be made. */
  observe(commit: { seconds: number; committed: number; rolledBack: number; failed: boolean }): void;
  onEffectError(cause: unknown): void;
}

/** Counts what comes; true when it is a crowd, also in the moment after one. */
function createCrowd(): () => boolean {
  let began = 0;
  let count = 0;
  let before = 0;
  return () => {
    const age = performance.now() - began;
    if (age > CROWD_MILLISECONDS) {
      before = age > 2 * CROWD_MILLISECONDS ? 0 : count;
      began += age;
      count = 0;
    }
    count += 1;
    return Math.max(count, before) > CROWD;
  };
}

/** How the last of them failed, if it did. */
const failureOf = (done: Done[]): { cause: unknown } | undefined => {
  const outcome = done.at(-1)?.outcome;
  return outcome && 'cause' in outcome ? outcome : undefined;
};

/**
 * Group commit, in three phases that repeat while anything waits. Gather: units that arrive in one turn of the event
 * loop, or a few, wait for its end (setImmediate), so that requests from many sockets share one fsync. Run: BEGIN, then the units,
 * one after another; one that throws before it has changed anything is out of it. When one throws later, all of them are
 * rolled back and run once more, each in a savepoint of its own, so that it is rolled back alone: savepoints cost an
 * eighth of the statements' time, and hardly ever is one needed. Settle: COMMIT, then the units' effects in order, then
 * the answers. A COMMIT that fails rolls all of them back and rejects every one.
 */
export function createGroupCommit({ connection, observe, onEffectError }: Options) {
  let changed = false; // by the unit that runs
  const sql = createStatements(connection, {
    changed: () => {
      changed = true;
    },
  });
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  const rollback = connection.prepare('ROLLBACK');
  const savepoint = connection.prepare('SAVEPOINT unit');
  const release = connection.prepare('RELEASE unit');
  const rollbackTo = connection.prepare('ROLLBACK TO unit');
  const waiting: Waiting[] = [];
  const isCrowd = createCrowd();
  let urgent = 0; // how many of the waiting were asked for by `transact`
  let running = false;
  let lastBatch = 0; // units of the last commit
  let soon: NodeJS.Timeout | undefined;
  let closed = false;
  const rest = createIdle(() => running || waiting.length > 0);

  const effects = (list: (() => void)[]): void => {
    for (const effect of list) {
      try {
        effect();
      } catch (cause) {
        onEffectError(cause); // the commit stands: an effect must not decide what others are told
      }
    }
  };

  // Latest first and at once, so that what a unit changed in memory is as before when the next unit looks.
  const undo = (list: (() => void)[]): void => effects(list.toReversed());

  async function runUnit(unit: Waiting, inSavepoint: boolean): Promise<Done> {
    const onCommit: (() => void)[] = [];
    const onRollback: (() => void)[] = [];
    const port: UnitOfWork = {
      ...sql,
      forUpdate: '', // units run one after another
      skipLocked: '',
      onCommit: (effect) => onCommit.push(effect),
      onRollback: (effect) => onRollback.push(effect),
    };
    changed = false;
    if (inSavepoint) savepoint.run();
    try {
      const value = await unit.work(port);
      if (inSavepoint) release.run();
      return { ...unit, outcome: { value }, onCommit, onRollback };
    } catch (cause) {
      if (inSavepoint && connection.inTransaction) {
        rollbackTo.run();
        release.run();
      }
      undo(onRollback);
      return { ...unit, outcome: { cause }, onCommit: [], onRollback: [] };
    }
  }

  /** Runs the units into `done`; false when one failed whose changes can only be taken back with those of all. */
  async function runAll(batch: Waiting[], done: Done[], inSavepoints: boolean): Promise<boolean> {
    begin.run();
    for (const unit of batch) {
      done.push(await runUnit(unit, inSavepoints));
      // A full disk ends the whole transaction by itself; going on would commit what follows without what went before.
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

  async function commitOnce(batch: Waiting[]): Promise<void> {
    const started = performance.now();
    const done: Done[] = [];
    try {
      if (!(await runAll(batch, done, false))) {
        takeBack(done);
        await runAll(batch, done, true);
      }
      commit.run();
    } catch (cause) {
      takeBack(done);
      for (const unit of batch) unit.reject(cause);
      observe({ seconds: (performance.now() - started) / 1000, committed: 0, rolledBack: batch.length, failed: true });
      return;
    }
    for (const unit of done) effects(unit.onCommit);
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
      failed: false,
    });
  }

  async function drain(): Promise<void> {
    const batch = waiting.splice(0, UNITS_PER_COMMIT);
    lastBatch = batch.length;
    urgent = waiting.length; // what did not fit goes next
    await commitOnce(batch);
    running = false;
    if (urgent > 0) start();
    else if (waiting.length > 0) startSoon();
    else rest.tell();
  }

  /** Goes when so many have come as last time, or after so many turns of the event loop without them. */
  function gather(turns: number): void {
    setImmediate(() => {
      if (turns > 1 && waiting.length < lastBatch) gather(turns - 1);
      else void drain();
    });
  }

  function start(): void {
    clearTimeout(soon);
    soon = undefined;
    if (running) return;
    running = true;
    gather(TURNS);
  }

  function startSoon(): void {
    if (rest.awaited()) start();
    else if (!running) soon ??= setTimeout(start, PATIENCE_MILLISECONDS);
  }

  function submit<Result>(work: (unit: UnitOfWork) => Promise<Result>, isUrgent: boolean): Promise<Result> {
    if (closed) return Promise.reject(new Error('the database is closed'));
    return new Promise<Result>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (isUrgent) {
        urgent += 1;
        start();
      } else startSoon();
    });
  }

  /** Resolves when nothing waits or runs; what would have waited for company goes now. */
  async function idle(): Promise<void> {
    const rested = rest.idle();
    if (waiting.length > 0) start();
    await rested;
  }

  return {
    transact: ((work) => submit(work, true)) as Transact,
    transactInCrowd: ((work) => submit(work, !isCrowd())) as Transact,
    transactSoon: ((work) => submit(work, false)) as Transact,
    idle,
    /** True while a commit is being made. */
    isRunning: (): boolean => running,
    async close(): Promise<void> {
      closed = true;
      await idle();
    },
  };
}
