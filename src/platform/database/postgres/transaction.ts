import type { Vault } from '../../encryption/vault.ts';
import type { createEffects } from '../effects.ts';
import { endedUnit } from '../ended-unit.ts';
import type { SqlValue, UnitOfWork } from '../sql.ts';
import type { Waiting } from '../unit-queue.ts';
import type { Connection } from './connection.ts';
import { statementOf } from './statements.ts';
import { ConnectionLost } from './trouble.ts';
import { type Answer, createTurns } from './turn.ts';

/** A unit of work in a transaction. */
export interface Ran {
  unit: Waiting;
  outcome: { value: unknown } | { cause: unknown } | undefined;
  /** Whether the unit has written: its changes can then only be rolled back with the whole transaction. */
  wrote: boolean;
  /** Whether a statement of the unit has failed, and so the whole transaction. */
  broke: boolean;
  /** The statements that were issued and are not answered. */
  open: number;
  /** The statements whose answers the unit does not wait for, and that are not answered. */
  kept: number;
  /** Set when the unit has ended while statements are open: called when the last one is answered. */
  rested: (() => void) | undefined;
  ended: boolean;
  onCommit: (() => void)[];
}

/** The error of a statement after the transaction has already failed: its unit is not at fault. */
export class Aborted extends Error {}

/** COMMIT was sent but not answered, so it is unknown whether the transaction was committed. */
export class FateUnknown extends ConnectionLost {}

const identityIn = ([row]: Answer['rows']): number => (row as { inserted_identity: number }).inserted_identity;

const LOCK_DEVICES = 'SELECT device_id FROM devices WHERE device_id = ANY(?) ORDER BY device_id FOR NO KEY UPDATE';

interface Parts {
  connection: Connection;
  effects: ReturnType<typeof createEffects>;
  /** The identity column of each table that has one. */
  identities: ReadonlyMap<string, string>;
  vault: Vault;
}

/**
 * One transaction on one connection, for one or several units of work. The server answers statements in order, so they can
 * be sent before BEGIN is answered.
 */
export function createTransaction({ connection, effects, identities, vault }: Parts) {
  const ran: Ran[] = [];
  // The effects of all units, in the order in which they were registered.
  let onRollback: { of: Ran; effect: () => void }[] = [];
  const turns = createTurns(connection);
  let broken: unknown;

  /** Notes that a statement of the unit has failed, and with it the transaction. */
  function failed(one: Ran, cause: unknown): void {
    broken ??= cause;
    // After the first error the server rejects all further statements; the statements of one set share the same error.
    if (broken === cause) one.broke = true;
  }

  const aborted = (): Aborted => new Aborted('the transaction has failed already', { cause: broken });

  async function ask(one: Ran, text: string, values: SqlValue[]): Promise<Answer> {
    if (one.ended) throw endedUnit();
    if (broken !== undefined) throw aborted();
    one.open += 1;
    try {
      const answer = await turns.ask(text, values);
      if (answer.count > 0 && !statementOf(text).reads) one.wrote = true;
      return answer;
    } catch (cause) {
      failed(one, cause);
      throw broken === cause ? cause : aborted();
    } finally {
      one.open -= 1;
      if (one.open === 0) one.rested?.();
    }
  }

  /** Keeps a statement until the next turn of the transaction, or its COMMIT. */
  function later(
    one: Ran,
    text: string,
    values: readonly SqlValue[],
    answered?: (answer: Answer) => void,
    isAwaited = answered !== undefined,
  ): void {
    if (one.ended) throw endedUnit();
    if (broken !== undefined) throw aborted();
    one.kept += 1;
    turns.keep(one.unit.key, {
      of: one,
      text,
      values,
      isAwaited,
      resolve(answer) {
        one.kept -= 1;
        if (answer.count > 0) one.wrote = true;
        if (answered) effects.run([() => answered(answer)]);
      },
      reject: (cause) => failed(one, cause),
    });
  }

  /**
   * Ends a unit. Waits for its statements that are still open, because their changes decide whether the transaction can be
   * committed without the unit.
   */
  function end(one: Ran): Promise<void> | undefined {
    one.ended = true;
    if (one.open === 0) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    one.rested = resolve;
    return promise;
  }

  function withIdentity(text: string): string {
    const table = /^\s*INSERT INTO (\w+)/.exec(text)?.[1] ?? '';
    const column = identities.get(table);
    if (column === undefined) throw new Error(`no table with an identity: ${text}`);
    return `${text} RETURNING ${column} AS inserted_identity`;
  }

  const portOf = (one: Ran): UnitOfWork => ({
    all: async <Row>(text: string, ...values: SqlValue[]) => (await ask(one, text, values)).rows as Row[],
    get: async <Row>(text: string, ...values: SqlValue[]) => (await ask(one, text, values)).rows[0] as Row | undefined,
    run: async (text, ...values) => (await ask(one, text, values)).count,
    async insert(text, ...values) {
      const { rows } = await ask(one, withIdentity(text), values);
      return identityIn(rows);
    },
    later: (text, values, changed) => later(one, text, values, changed && (({ count }) => changed(count))),
    insertLater: (text, values, inserted) =>
      later(one, withIdentity(text), values, ({ rows }) => inserted(identityIn(rows))),
    insertReturning: <Row>(text: string, values: readonly SqlValue[], inserted: (row: Row) => void) =>
      // The next unit of the same device needs nothing of it: the effects of the commit do.
      later(one, text, values, ({ rows }) => inserted(rows[0] as Row), false),
    forUpdate: ' FOR NO KEY UPDATE',
    forRemoval: ' FOR UPDATE',
    whileThere: ' FOR KEY SHARE',
    skipLocked: ' FOR NO KEY UPDATE SKIP LOCKED',
    vault,
    onCommit: (effect) => one.onCommit.push(effect),
    onRollback: (effect) => onRollback.push({ of: one, effect }),
  });

  /** Undoes the changes in memory of a unit, or of all units, at once and the latest first. */
  function undo(one?: Ran): void {
    effects.undo(onRollback.filter(({ of }) => one === undefined || of === one).map(({ effect }) => effect));
    onRollback = one === undefined ? [] : onRollback.filter(({ of }) => of !== one);
  }

  /** Whether there is nothing to commit or to roll back, because the units have ended without a statement. */
  function isEmpty(): boolean {
    if (!turns.isEmpty()) return false;
    turns.forget();
    return true;
  }

  return {
    ran,

    /**
     * Begins the transaction and locks the rows of these devices in a fixed order. The caller need not wait for this,
     * because the server answers later statements afterwards.
     */
    begin(keys: readonly string[]): void {
      const noted = {
        resolve: () => undefined,
        reject(cause: unknown): void {
          broken ??= cause;
        },
      };
      const begin = { text: 'BEGIN', values: [], ...noted };
      turns.open(begin, ...(keys.length > 0 ? [{ text: LOCK_DEVICES, values: [keys], ...noted }] : []));
    },

    /** Runs a unit; never rejects. Returns false when the whole transaction must be rolled back. */
    async run(unit: Waiting): Promise<boolean> {
      if (turns.owes(unit.key)) await turns.rest();
      const one: Ran = {
        unit,
        outcome: undefined,
        wrote: false,
        broke: false,
        onCommit: [],
        open: 0,
        kept: 0,
        rested: undefined,
        ended: false,
      };
      ran.push(one);
      try {
        one.outcome = { value: await unit.work(portOf(one)) };
        await end(one);
      } catch (cause) {
        await end(one);
        one.outcome = { cause };
        one.onCommit = [];
        one.kept -= turns.drop(one);
        if (one.kept > 0) one.wrote = true; // a statement is on its way
        if (!one.wrote && broken === undefined) undo(one);
        else return false;
      }
      return broken === undefined;
    },

    /** The error after which the transaction can only be rolled back; undefined while it can be committed. */
    broken: (): unknown => broken,

    /** Whether this unit is the reason that the transaction can only be rolled back. */
    isAtFault: (one: Ran): boolean =>
      one.broke ||
      (one.wrote && one.outcome !== undefined && 'cause' in one.outcome && !(one.outcome.cause instanceof Aborted)),

    /**
     * Sends the statements that are kept, and commits. Rejects with FateUnknown when no answer came, with the error of a
     * statement that has failed, or with that of the COMMIT.
     */
    async commit(): Promise<void> {
      if (isEmpty()) return;
      const command = await turns.end('COMMIT').catch((cause: unknown) => {
        throw cause instanceof ConnectionLost ? new FateUnknown(cause) : (broken ?? cause);
      });
      // After a failed statement the server answers COMMIT with ROLLBACK.
      if (command !== 'COMMIT') throw new Error(`COMMIT was answered with ${command}`, { cause: broken });
      // The server has carried all out, but an answer that came with that of the COMMIT makes no sense.
      if (broken !== undefined) throw new FateUnknown(broken);
    },

    /** Rolls back, in the database and in memory. On a lost connection the server rolls back by itself. */
    async rollback(): Promise<void> {
      undo();
      if (!isEmpty() && connection.alive()) await connection.query('ROLLBACK').catch(() => undefined);
    },

    /**
     * After the commit: runs the `onCommit` functions of the units in order, then resolves or rejects the promise of
     * each unit. Returns how many units have failed.
     */
    settle(): number {
      let failed = 0;
      for (const { onCommit } of ran) effects.run(onCommit);
      for (const { unit, outcome } of ran) {
        if (outcome && 'value' in outcome) unit.resolve(outcome.value);
        else {
          failed += 1;
          unit.reject(outcome?.cause);
        }
      }
      return failed;
    },
  };
}

export type Transaction = ReturnType<typeof createTransaction>;
