import type { SqlValue } from '../sql.ts';
import type { Asked, Connection } from './connection.ts';
import { inDistinctSets, NUMBER, type SetForm, setFormOf } from './sets.ts';
import type { Bound } from './statements.ts';

/** The result of a statement. */
export interface Answer {
  rows: Record<string, unknown>[];
  /** The number of rows that were read or changed. */
  count: number;
}

export interface Call {
  text: string;
  values: readonly Bound[];
  resolve(answer: Answer): void;
  reject(cause: unknown): void;
}

/** A call that is kept. */
interface Kept extends Call {
  /** The unit that has issued it. */
  of: object;
  /** Whether the next unit of its key begins only after its answer. */
  isAwaited: boolean;
}

/** Gives each call the rows that belong to it, after one statement has done the work of several calls. */
function share(form: SetForm, calls: readonly Call[], rows: Record<string, unknown>[]): void {
  const answers = calls.map((): Answer => ({ rows: [], count: 0 }));
  if (!form.numbered && rows.length !== calls.length) {
    const cause = new Error(`a set of ${calls.length} was answered with ${rows.length} rows: ${form.text}`);
    for (const { reject } of calls) reject(cause);
    return;
  }
  for (const [index, row] of rows.entries()) {
    const answer = answers[form.numbered ? (row[NUMBER] as number) - 1 : index] as Answer;
    delete row[NUMBER];
    answer.rows.push(row);
    answer.count += 1;
  }
  for (const [index, { resolve }] of calls.entries()) resolve(answers[index] as Answer);
}

const single = ({ text, values, resolve, reject }: Call): Asked => ({
  text,
  values,
  answered: (rows, count) => resolve({ rows, count }),
  failed: reject,
});

function set(form: SetForm, some: readonly Call[]): Asked {
  const [first] = some;
  return {
    text: form.text,
    values: (first?.values ?? []).map((_, index) => some.map(({ values }) => (values[index] ?? null) as SqlValue)),
    answered: (rows) => share(form, some, rows),
    failed(cause) {
      for (const { reject } of some) reject(cause);
    },
  };
}

/** The statements of calls whose order does not matter: those with the same text are one statement, if it has a set form. */
function statementsOf(calls: readonly Call[]): Asked[] {
  const statements: Asked[] = [];
  for (const [text, some] of Map.groupBy(calls, (call) => call.text)) {
    const form = some.length > 1 ? setFormOf(text) : undefined;
    for (const one of form ? inDistinctSets(form, some) : some.map((call) => [call])) {
      const [first] = one;
      if (form && one.length > 1) statements.push(set(form, one));
      else if (first) statements.push(single(first));
    }
  }
  return statements;
}

/**
 * Sends the statements of units that run concurrently, in one transaction. All statements that are issued in one turn of
 * the event loop are sent together, at its end: those with the same text as one statement over arrays, if it has a set
 * form, the others one after another, in the order in which their texts were first issued. With several units the order within
 * a turn is therefore not guaranteed; such a unit awaits statements that must come first.
 * Statements whose answers no unit waits for are kept, and sent before those of the next turn or before the COMMIT.
 */
export function createTurns(connection: Connection) {
  let calls: Call[] = [];
  /** The beginning of the transaction, until it is sent. */
  let opening: Call[] = [];
  /** The calls that are kept, in levels: those of one level may be sent in any order. */
  let kept: Kept[][] = [];
  /** The keys of those that are awaited. */
  const awaited = new Set<string | undefined>();
  /** By key: the level of its latest call that is kept, and the text of that call. */
  const latest = new Map<string | undefined, { level: number; text: string }>();
  let hasSent = false;

  function send(last?: Asked): void {
    const statements = [...opening.map(single), ...kept.flatMap(statementsOf), ...statementsOf(calls)];
    [opening, kept, calls] = [[], [], []];
    latest.clear();
    awaited.clear();
    if (last) statements.push(last);
    if (statements.length === 0) return; // they were forgotten
    hasSent = true;
    connection.batch(statements);
  }

  function ask(text: string, values: readonly Bound[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // process.nextTick runs after all promises that are already resolved, so the statements that follow from this turn's
      // answers are included.
      if (calls.length === 0) process.nextTick(send);
      calls.push({ text, values, resolve, reject });
    });
  }

  return {
    ask,

    /** Keeps statements that come before all others. */
    open(...statements: Call[]): void {
      opening = statements;
    },

    /**
     * Keeps a statement. Those of one key stay in order, except that those with the same text that follow one another
     * may become one statement. Those without a key come after all that are kept already.
     */
    keep(key: string | undefined, call: Kept): void {
      const before = latest.get(key);
      const isLike = before?.text === call.text;
      const after = key === undefined ? kept.length : (before?.level ?? -1) + 1;
      const level = isLike ? before.level : after;
      latest.set(key, { level, text: call.text });
      kept[level] ??= [];
      kept[level].push(call);
      if (call.isAwaited) awaited.add(key);
    },

    /** Drops the statements of a unit that are kept; returns their number. */
    drop(of: object): number {
      const before = kept.flat().length;
      kept = kept.map((level) => level.filter((call) => call.of !== of));
      return before - kept.flat().length;
    },

    /** Whether an answer must be awaited before a unit with this key begins; without a key it is that of any. */
    owes: (key: string | undefined): boolean => (key === undefined ? awaited.size > 0 : awaited.has(key)),

    /** Sends what is kept, and resolves when it is answered. */
    rest: (): Promise<void> =>
      new Promise((rested) => {
        // The answers of all statements that are sent together come together.
        const last = kept.flat().at(-1);
        if (!last) return rested();
        const { resolve, reject } = last;
        last.resolve = (answer) => {
          resolve(answer);
          rested();
        };
        last.reject = (cause) => {
          reject(cause);
          rested();
        };
        send();
      }),

    /** Whether no unit has issued a statement. */
    isEmpty: (): boolean => !hasSent && kept.every((level) => level.length === 0),

    /** Drops the statements that were not sent yet; their promises stay open. */
    forget(): void {
      [opening, kept, calls] = [[], [], []];
    },

    /** Sends what is kept, and a last statement behind it. Resolves to the command that the server names in its answer. */
    end: (text: string): Promise<string> =>
      new Promise((resolve, reject) => {
        send({ text, values: [], answered: (_rows, _count, command) => resolve(command), failed: reject });
      }),
  };
}
