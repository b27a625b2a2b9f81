import { setTimeout as sleep } from 'node:timers/promises';
import type { Vault } from '../../encryption/vault.ts';
import { createEffects } from '../effects.ts';
import { createUnitQueue, type QueueOptions, type Waiting } from '../unit-queue.ts';
import type { Link } from './link.ts';
import { Aborted, createTransaction, FateUnknown, type Transaction } from './transaction.ts';
import { ConnectionLost, isOvertaken, isPassing, isShort, toCallerError } from './trouble.ts';

// The number of times that a transaction is tried when it meets a lock or a conflict, with a random pause between them
// of at most this many milliseconds.
const TRIES = 4;
const LONGEST_PAUSE_MS = 30;

/**
 * The most units of one device in one transaction. Units of one device run one after another, so the device with most
 * units decides how long the transaction takes.
 */
const PER_DEVICE = 4;

interface Failed {
  cause: unknown;
  atFault: Waiting[];
}

/** Finds the devices whose rows another transaction has locked at this moment. */
const BUSY_DEVICES = `SELECT device_id FROM devices WHERE device_id = ANY(?) AND device_id NOT IN
  (SELECT device_id FROM devices WHERE device_id = ANY(?) FOR NO KEY UPDATE SKIP LOCKED)`;

/**
 * The most units that get a transaction of their own, after a failure, before the next shared transaction begins, so that
 * other units are not delayed for long.
 */
const ALONE_PER_TURN = 16;

interface Options extends Pick<QueueOptions, 'ownerOf' | 'busy' | 'apartMs'> {
  /** One connection for each transaction at the same time. */
  links: readonly Link[];
  /** Whether each unit gets a transaction of its own. */
  isAlone?: boolean;
  identities: ReadonlyMap<string, string>;
  vault: Vault;
  /** `failed`: the transaction could not be committed. */
  observe(commit: { seconds: number; committed: number; rolledBack: number; failed: boolean }): void;
  /** Called when the server lacks disk or memory for a transaction. */
  onShort(cause: Error): void;
  onEffectError(cause: unknown): void;
}

/**
 * Group commit on one or several connections. On each of them, turns repeat while units wait.
 *
 * 1. Units with a device's key share one transaction: one statement locks their devices' rows, then the units run
 *    concurrently, those of one device one after another. Units that nobody waits for follow in the same transaction.
 * 2. A unit that throws before it has written is rejected alone. When one fails later, the transaction is rolled back: the
 *    others run together again, and the failing unit gets a transaction of its own.
 * 3. Units without a key that somebody waits for get a transaction each (`isAlone`), because they take their locks in an order
 *    of their own, which must not be mixed with others'.
 *
 * A transaction that met another one's lock or conflict is run again, and so is one whose connection was lost before its
 * COMMIT was sent. When it was lost after that, nobody knows whether it was committed, and its units are rejected with
 * DATABASE_UNAVAILABLE.
 */
export function createPostgresGroupCommit(options: Options) {
  const { links, isAlone = false, identities, vault, observe, onShort, onEffectError, ...ofQueue } = options;
  const effects = createEffects(onEffectError);
  /** The connections without a transaction. The first are preferred, so that the last are only opened if they are needed. */
  const free = [...links];
  /** How often a unit has been tried in a transaction of its own. */
  const tries = new WeakMap<Waiting, number>();

  /**
   * Runs the units in one transaction and commits. After a failure, returns its cause and the units that caused it;
   * then no unit has been resolved or rejected yet.
   */
  async function attempt(link: Link, units: readonly Waiting[]): Promise<Failed | undefined> {
    const started = performance.now();
    const report = (committed: number, rolledBack: number, failed: boolean): void =>
      observe({ seconds: (performance.now() - started) / 1000, committed, rolledBack, failed });
    let transaction: Transaction;
    try {
      transaction = createTransaction({ connection: await link.ready(), effects, identities, vault });
    } catch (cause) {
      return { cause, atFault: [] }; // the database is being closed
    }
    try {
      const isWhole = await runAll(transaction, units);
      if (isWhole) await transaction.commit();
      else throw transaction.broken() ?? new Error('a unit failed after it had written');
    } catch (cause) {
      const atFault = transaction.ran.filter(transaction.isAtFault);
      await transaction.rollback();
      report(0, units.length, true);
      if (isShort(cause)) onShort(cause);
      const own = units.length === 1 ? atFault[0]?.outcome : undefined;
      // The error of a statement behind the one that failed says nothing.
      const isOwn = own && 'cause' in own && !(own.cause instanceof Aborted);
      return { cause: isOwn ? own.cause : cause, atFault: atFault.map(({ unit }) => unit) };
    }
    const failed = transaction.settle();
    report(units.length - failed, failed, false);
    return undefined;
  }

  /** Runs all units. Returns false when the transaction must be rolled back. */
  async function runAll(transaction: Transaction, units: readonly Waiting[]): Promise<boolean> {
    const chains = Map.groupBy(
      units.filter(({ key }) => key !== undefined),
      ({ key }) => key as string,
    );
    const inOrder = async (chain: readonly Waiting[]): Promise<boolean> => {
      for (const unit of chain) if (!(await transaction.run(unit))) return false;
      return true;
    };
    transaction.begin([...chains.keys()]);
    const ended = await Promise.all([...chains.values()].map(inOrder));
    return !ended.includes(false) && (await inOrder(units.filter(({ key }) => key === undefined)));
  }

  /** Whether another try may succeed. */
  const isWorthTrying = (cause: unknown): boolean =>
    isPassing(cause) || isOvertaken(cause) || (cause instanceof ConnectionLost && !(cause instanceof FateUnknown));

  /**
   * Runs a unit in a transaction of its own. Returns false when it is to be tried again, after other units had their turn.
   */
  async function alone(link: Link, unit: Waiting): Promise<boolean> {
    const failed = await attempt(link, [unit]);
    if (!failed) return true;
    const made = (tries.get(unit) ?? 0) + 1;
    tries.set(unit, made);
    if (isWorthTrying(failed.cause) && made < TRIES) {
      await sleep(Math.random() * LONGEST_PAUSE_MS);
      return false;
    }
    unit.reject(toCallerError(failed.cause));
    return true;
  }

  /** Returns those units whose device is locked by another transaction. */
  async function busyOf(link: Link, units: readonly Waiting[]): Promise<Waiting[]> {
    const keys = units.flatMap(({ key }) => key ?? []);
    const answer = await link
      .current()
      ?.query(BUSY_DEVICES, keys, keys)
      .catch(() => undefined);
    const busy = new Set((answer?.rows as { device_id: string }[] | undefined)?.map((row) => row.device_id));
    return units.filter(({ key }) => key !== undefined && busy.has(key));
  }

  /**
   * Resolves or rejects the units in as few transactions as possible; returns those that need a transaction of their
   * own.
   */
  async function together(link: Link, batch: readonly Waiting[]): Promise<Waiting[]> {
    const lonely: Waiting[] = [];
    let units = batch;
    for (let made = 1; units.length > 0; made += 1) {
      const failed = await attempt(link, units);
      if (!failed) break;
      const { cause, atFault } = failed;
      if (cause instanceof FateUnknown) {
        for (const unit of units) unit.reject(toCallerError(cause));
        break;
      }
      const out = new Set(made < TRIES ? atFault : units);
      if (cause instanceof ConnectionLost && made < TRIES) out.clear();
      else if (isPassing(cause)) for (const unit of await busyOf(link, units)) out.add(unit);
      units = units.filter((unit) => !out.has(unit));
      lonely.push(...out);
    }
    return lonely;
  }

  async function commitOn(link: Link, batch: Waiting[]): Promise<Waiting[]> {
    const shares = (unit: Waiting): boolean => !isAlone && (unit.key !== undefined || !unit.urgent) && !tries.has(unit);
    const lonely = await together(link, batch.filter(shares));
    lonely.push(...batch.filter((unit) => !shares(unit)));
    const left = lonely.splice(ALONE_PER_TURN);
    for (const unit of lonely) if (!(await alone(link, unit))) left.push(unit);
    return left;
  }

  async function commit(batch: Waiting[]): Promise<Waiting[]> {
    const link = free.shift() as Link;
    const left = await commitOn(link, batch);
    free.push(link);
    free.sort((one, other) => links.indexOf(one) - links.indexOf(other));
    return left;
  }

  return createUnitQueue(commit, {
    ...ofQueue,
    perKey: PER_DEVICE,
    lanes: links.length,
    ...(isAlone && { perCommit: () => 1 }),
  });
}
