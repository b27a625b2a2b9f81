import Sqlite from 'better-sqlite3';

type Row = Record<string, unknown>;

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

  /** The rows of a statement, in which `:now` is a time in microseconds; none while the service is away. */
  rows(text: string, now = 0): Row[] {
    if (this.#file === undefined) return [];
    this.#connection ??= new Sqlite(this.#file, { readonly: true });
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#connection.prepare(text);
      this.#statements.set(text, statement);
    }
    return (text.includes(':now') ? statement.all({ now }) : statement.all()) as Row[];
  }
}
