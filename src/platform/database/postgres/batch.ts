import { Query } from 'pg';
import type { SqlValue } from '../sql.ts';
import type { Wire } from './pg-parts.ts';

/** A statement of a batch; either `answered` or `failed` is called once. */
export interface BatchStatement {
  /** The text with `$1`, `$2` and so on. */
  text: string;
  values: readonly SqlValue[];
  /** `count`: the number of rows that were read or changed. `command`: the first word of the server's answer. */
  answered(rows: Record<string, unknown>[], count: number, command: string): void;
  failed(cause: unknown): void;
}

interface Column {
  name: string;
  parse(text: string): unknown;
}

interface Prepared {
  name: string;
  /** The columns of its rows; undefined until it was carried out once. */
  columns: Column[] | undefined;
}

type ParserOf = (typeId: number, format: 'text') => (text: string) => unknown;

/** The statements that were prepared on one connection by batches. */
export interface BatchMemory {
  readonly prepared: Map<string, Prepared>;
  named: number;
  readonly parserOf: ParserOf;
}

export const createBatchMemory = (parserOf: ParserOf): BatchMemory => ({ prepared: new Map(), named: 0, parserOf });

/**
 * After so many statements the server writes the answers that it has, so that a long batch is not taken for a server that
 * hangs.
 */
const ANSWERED_TOGETHER = 32;

/** A statement was not carried out, because an earlier one of its batch has failed. */
export class Skipped extends Error {}

/** The listener for the progress of a batch. */
interface BatchWatch {
  /** Called at each statement that is answered. */
  progress(): void;
  /** Called at the end, before the statements get their answers or errors. */
  ended(): void;
  /** Called when the first statement is answered, which the server then does at once; undefined: with the others. */
  onFirst: (() => void) | undefined;
}

const asText = (value: SqlValue): unknown => (value === null || Buffer.isBuffer(value) ? value : String(value));

/**
 * Statements that are sent together and answered together, for one transaction. The server writes its answers to the
 * socket once for each Sync, and reports its state each time. The library sends a Sync behind each statement; a batch
 * has one at its end. A prepared statement is described only when it runs for the first time on its connection, because
 * its columns stay the same (the server fails it otherwise). After an error the server skips the statements that follow.
 */
export class Batch extends Query {
  readonly #statements: readonly BatchStatement[];
  readonly #memory: BatchMemory;
  readonly #prepared: Prepared[] = [];
  readonly #rows: Record<string, unknown>[][] = [];
  /** The server's answer to each statement that it has carried out, such as `UPDATE 1` or `COMMIT`. */
  readonly #answers: string[] = [];
  readonly #watch: BatchWatch;
  #columns: Column[] = [];
  #current: Record<string, unknown>[] = [];

  constructor(statements: readonly BatchStatement[], memory: BatchMemory, watch: BatchWatch) {
    super('');
    this.#statements = statements;
    this.#memory = memory;
    this.#watch = watch;
  }

  /** Called by the library when it is time to write. */
  override submit = (connection: unknown): void => {
    const wire = connection as Wire;
    wire.stream.cork();
    for (const [index, { text, values }] of this.#statements.entries()) {
      let prepared = this.#memory.prepared.get(text);
      if (!prepared) {
        this.#memory.named += 1;
        prepared = { name: `b${this.#memory.named}`, columns: undefined };
        this.#memory.prepared.set(text, prepared);
        wire.parse({ name: prepared.name, text });
      }
      this.#prepared.push(prepared);
      wire.bind({ statement: prepared.name, values, valueMapper: asText });
      if (!prepared.columns) wire.describe({ type: 'P' });
      wire.execute(undefined);
      if ((index + 1) % ANSWERED_TOGETHER === 0 || (index === 0 && this.#watch.onFirst)) wire.flush();
    }
    wire.sync();
    wire.stream.uncork();
    this.#columns = this.#prepared[0]?.columns ?? [];
  };

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const { parserOf } = this.#memory;
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID, 'text') }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of this.#columns.entries()) {
      const text = fields[index] as string | null;
      row[name] = text === null ? null : parse(text);
    }
    this.#current.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    const index = this.#answers.length;
    const prepared = this.#prepared[index] as Prepared;
    prepared.columns ??= this.#columns;
    this.#rows.push(this.#current);
    this.#answers.push(text);
    this.#current = [];
    this.#columns = this.#prepared[index + 1]?.columns ?? [];
    if (index === 0) this.#watch.onFirst?.();
    this.#watch.progress();
  }

  handleReadyForQuery(): void {
    this.#end(this.#statements.length);
  }

  /** Called after an error of the server, or when the connection is lost. */
  handleError(cause: Error): void {
    const at = this.#answers.length;
    // It is not known which of the further statements were prepared, so they are prepared again under other names.
    for (const [index, { text }] of this.#statements.entries())
      if (index >= at && !this.#prepared[index]?.columns) this.#memory.prepared.delete(text);
    this.#end(at, cause);
  }

  #end(answered: number, cause?: Error): void {
    this.#watch.ended();
    for (const [index, statement] of this.#statements.entries())
      if (index < answered) this.#answer(statement, index);
      else if (index === answered) statement.failed(cause);
      else statement.failed(new Skipped('an earlier statement has failed', { cause }));
  }

  #answer(statement: BatchStatement, index: number): void {
    const answer = this.#answers[index] ?? '';
    const last = answer.lastIndexOf(' ');
    const count = last < 0 ? 0 : Number(answer.slice(last + 1)); // BEGIN has no number
    statement.answered(this.#rows[index] ?? [], count, last < 0 ? answer : answer.slice(0, answer.indexOf(' ')));
  }
}
