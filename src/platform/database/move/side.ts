export type Value = string | number | Buffer | null;

export interface Table {
  name: string;
  /** Without generated columns, which the other database makes itself. */
  columns: string[];
}

/** One of the two databases of a move. All of it happens in one transaction of each. */
export interface Side {
  /** The name for people. */
  name: string;
  /** The tables in the order in which they were made, so that a row comes after the rows that it refers to. */
  tables(): Promise<Table[]>;
  /** Reads a table in pages, in any order. */
  pages(table: Table): AsyncIterable<Value[][]>;
  insert(table: Table, rows: readonly Value[][]): Promise<void>;
  /** The last number of each sequence, by the table that it numbers. */
  sequences(): Promise<Map<string, number>>;
  setSequence(table: string, last: number): Promise<void>;
  commit(): Promise<void>;
  /** Gives up what is not committed, and closes the database. */
  close(): Promise<void>;
}

/** Rows of a page: each may have parameters of 64 KiB. */
export const PAGE = 250;
