import type { createEffects } from '../effects.ts';
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
  /** What it has written can be taken back with the whole transaction only. */
  wrote: boolean;
  /** One of its statements has failed, and with it the whole transaction. */
  broke: boolean;
  onCommit: (() => void)[];
}

/** What a statement is answered with when the transaction has failed already: its unit is not at fault. */
class Aborted extends Error {}

/** COMMIT was sent, and no answer came: nobody knows whether it was made. */
export class FateUnknown extends ConnectionLost {}

const LOCK_DEVICES = 'SELECT device_id FROM devices WHERE device_id = ANY(?) ORDER BY device_id FOR NO KEY UPDATE';

interface Parts {
  connection: Connection;
  effects: ReturnType<typeof createEffects>;
  /** The identity column of each table that has one. */
  identities: ReadonlyMap<string, string>;
}

/**
 * One transaction of one connection, for one unit of work or several. Its statements are answered in order: what is asked
 * before BEGIN is answered is already in it.
 */
export function createTransaction({ connection, effects, identities }: Parts) {
  const ran: Ran[] = [];
  let onRollback: { of: Ran; effect: () => void }[] = []; // of all units, in the order in which they came
  const inTurns = createTurns(connection);
  let broken: unknown;

  async function ask(one: Ran, text: string, values: SqlValue[]): Promise<Answer> {
    if (broken !== undefined) throw new Aborted('the transaction has failed already', { cause: broken });
    try {
      const answer = await inTurns(text, values);
      if (answer.count > 0 && !statementOf(text).reads) one.wrote = true;
      return answer;
    } catch (cause) {
      broken ??= cause;
      // What is answered after the first error says only that there was one; all of a set have the same one.
      if (broken !== cause) throw new Aborted('the transaction has failed already', { cause: broken });
      one.broke = true;
      throw cause;
    }
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
    onCommit: (effect) => one.onCommit.push(effect),
    onRollback: (effect) => onRollback.push({ of: one, effect }),
  });

  /** What a unit has changed in memory is undone at once, latest first. */
  function undo(one?: Ran): void {
    effects.undo(onRollback.filter(({ of }) => one === undefined || of === one).map(({ effect }) => effect));
    onRollback = one === undefined ? [] : onRollback.filter(({ of }) => of !== one);
  }

  return {
    ran,

    /** Begins, with the rows of these devices locked in one order. Not waited for: what follows is answered after it. */
    begin(keys: readonly string[]): void {
      const noticed = (cause: unknown): void => {
        broken ??= cause;
      };
      inTurns('BEGIN', []).catch(noticed);
      if (keys.length > 0) inTurns(LOCK_DEVICES, [keys]).catch(noticed);
    },

    /** Runs a unit; never rejects. False when it failed in a way that the whole transaction has to be taken back for. */
    async run(unit: Waiting): Promise<boolean> {
      const one: Ran = { unit, outcome: undefined, wrote: false, broke: false, onCommit: [] };
      ran.push(one);
      try {
        one.outcome = { value: await unit.work(portOf(one)) };
      } catch (cause) {
        one.outcome = { cause };
        one.onCommit = [];
        if (!one.wrote && broken === undefined) undo(one);
        else return false;
      }
      return broken === undefined;
    },

    /** Why the transaction cannot be committed: what a statement said, or undefined. */
    broken: (): unknown => broken,

    /** True when the unit is why it cannot be committed. */
    isAtFault: (one: Ran): boolean =>
      one.broke ||
      (one.wrote && one.outcome !== undefined && 'cause' in one.outcome && !(one.outcome.cause instanceof Aborted)),

    /** Rejects with FateUnknown when no answer came. After an error COMMIT answers that it was a ROLLBACK. */
    async commit(): Promise<void> {
      const { command } = await connection.query('COMMIT').catch((cause: unknown) => {
        throw cause instanceof ConnectionLost ? new FateUnknown(cause) : cause;
      });
      if (command !== 'COMMIT') throw new Error(`COMMIT was answered with ${command}`, { cause: broken });
    },

    /** Takes everything back, in the database and in memory. A connection that is lost has done its part. */
    async rollback(): Promise<void> {
      undo();
      if (connection.alive()) await connection.query('ROLLBACK').catch(() => undefined);
    },

    /** After the commit: what the units have left for it in order, then the answers. How many of them failed. */
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
