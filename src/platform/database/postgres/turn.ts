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

interface Call {
  text: string;
  values: Bound[];
  resolve(answer: Answer): void;
  reject(cause: unknown): void;
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

/**
 * Sends the statements of units that run concurrently. All statements that are issued in one turn of the event loop are
 * sent together, at its end: those with the same text as one statement over arrays, if it has a set form, the others
 * one after another. The order within a turn is therefore not guaranteed; a unit awaits statements that must come
 * first.
 */
export function createTurns(connection: Connection) {
  let calls: Call[] = [];
  let hasSent = false;

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

  function send(): void {
    const due = calls;
    calls = [];
    if (due.length === 0) return; // they were forgotten
    hasSent = true;
    const statements: Asked[] = [];
    for (const [text, some] of Map.groupBy(due, (call) => call.text)) {
      const form = some.length > 1 ? setFormOf(text) : undefined;
      for (const one of form ? inDistinctSets(form, some) : some.map((call) => [call])) {
        const [first] = one;
        if (form && one.length > 1) statements.push(set(form, one));
        else if (first) statements.push(single(first));
      }
    }
    connection.batch(statements);
  }

  return {
    ask: (text: string, values: Bound[]): Promise<Answer> =>
      new Promise((resolve, reject) => {
        // process.nextTick runs after all promises that are already resolved, so the statements that follow from this turn's
        // answers are included.
        if (calls.length === 0) process.nextTick(send);
        calls.push({ text, values, resolve, reject });
      }),

    /** Whether any statement was sent. */
    hasSent: (): boolean => hasSent,

    /** Drops the statements that were not sent yet; their promises stay open. */
    forget(): void {
      calls = [];
    },
  };
}
