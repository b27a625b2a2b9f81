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
  /** Set when the unit has ended while statements are open: called when the last one is answered. */
  rested: (() => void) | undefined;
  ended: boolean;
  onCommit: (() => void)[];
}

/** The error of a statement after the transaction has already failed: its unit is not at fault. */
class Aborted extends Error {}

/** COMMIT was sent but not answered, so it is unknown whether the transaction was committed. */
export class FateUnknown extends ConnectionLost {}

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

  async function ask(one: Ran, text: string, values: SqlValue[]): Promise<Answer> {
    if (one.ended) throw endedUnit();
    if (broken !== undefined) throw new Aborted('the transaction has failed already', { cause: broken });
    one.open += 1;
    try {
      const answer = await turns.ask(text, values);
      if (answer.count > 0 && !statementOf(text).reads) one.wrote = true;
      return answer;
    } catch (cause) {
      broken ??= cause;
      // After the first error the server rejects all further statements; the statements of one set share the same error.
      if (broken !== cause) throw new Aborted('the transaction has failed already', { cause: broken });
      one.broke = true;
      throw cause;
    } finally {
      one.open -= 1;
      if (one.open === 0) one.rested?.();
    }
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
      return (rows[0] as { inserted_identity: number }).inserted_identity;
    },
    forUpdate: ' FOR NO KEY UPDATE',
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

  /**
   * Whether nothing was sent, because the units have ended without a statement. COMMIT would then go to the server before
   * BEGIN does, which would leave a transaction open that holds the locks of the devices.
   */
  function isEmpty(): boolean {
    if (turns.hasSent()) return false;
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
      const noticed = (cause: unknown): void => {
        broken ??= cause;
      };
      turns.ask('BEGIN', []).catch(noticed);
      if (keys.length > 0) turns.ask(LOCK_DEVICES, [keys]).catch(noticed);
    },

    /** Runs a unit; never rejects. Returns false when the whole transaction must be rolled back. */
    async run(unit: Waiting): Promise<boolean> {
      const one: Ran = {
        unit,
        outcome: undefined,
        wrote: false,
        broke: false,
        onCommit: [],
        open: 0,
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
     * Commits. Rejects with FateUnknown when no answer came. After a failed statement the server answers COMMIT with
     * ROLLBACK.
     */
    async commit(): Promise<void> {
      if (isEmpty()) return;
      const { command } = await connection.query('COMMIT').catch((cause: unknown) => {
        throw cause instanceof ConnectionLost ? new FateUnknown(cause) : cause;
      });
      if (command !== 'COMMIT') throw new Error(`COMMIT was answered with ${command}`, { cause: broken });
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
