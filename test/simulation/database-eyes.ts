import Sqlite from 'better-sqlite3';

type Row = Record<string, unknown>;

const NOTHING = {};
const NAMED = /:[a-z]/;
/** The rollouts that run in a database nobody uses, or are to begin by themselves. */
export function rolloutsIn(file: string): string[] {
  const connection = new Sqlite(file, { readonly: true });
  try {
    const text = `SELECT rollout_id FROM rollouts WHERE state IN ('running', 'scheduled')`;
    return connection.prepare(text).pluck().all() as string[];
  } finally {
    connection.close();
  }
}

/** Reads the database of the service as the last commit left it, beside the service's own connections. */
export class DatabaseEyes {
  #file: string | undefined;
  #connection: Sqlite.Database | undefined;
  readonly #statements = new Map<string, Sqlite.Statement>();

  /** Looks at another file from now on; undefined: at none. */
  use(file: string | undefined): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#statements.clear();
    this.#file = file;
  }

  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** The rows of a statement with named values, such as `:now` in microseconds; none while the service is away. */
  rows(text: string, values: Readonly<Record<string, number | string>> = NOTHING): Row[] {
    if (this.#file === undefined) return [];
    this.#connection ??= new Sqlite(this.#file, { readonly: true });
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#connection.prepare(text);
      this.#statements.set(text, statement);
    }
    return (NAMED.test(text) ? statement.all(values) : statement.all()) as Row[];
  }
}
