import type { Option } from '../line/options.ts';
import { type Column, fieldText, timeText } from '../show/table.ts';

export type Row = Readonly<Record<string, unknown>>;

/** An option that becomes a field of the body. */
export interface Field extends Option {
  field: string;
  /** `number`: of a whole number; `json`: of a file with JSON (`-`: standard input). */
  kind?: 'number' | 'json';
  /** What `--no-OPTION` does, which sends null. */
  none?: string;
}

/** An operation of the administration API as a command. */
export interface Verb {
  /** Empty: the command has the name of the resource alone. */
  verb: string;
  summary: string;
  about?: string;
  method: string;
  path: string;
  /**
   * The arguments of the command, in their order, each with the `{parameter}` of the path or the field of the body (of a
   * GET: the parameter of the query) that it is; one in brackets may be left out. A parameter that is not among them is the option `--developer`.
   */
  arguments?: Readonly<Record<string, string>>;
  /** `list`: all pages of it; `upload`: the file is sent to the URL that comes back; without: one request. */
  kind?: 'list' | 'upload';
  fields?: Readonly<Record<string, Field>>;
  /** Options without a value; one that is given is `true` in the query. */
  flags?: Readonly<Record<string, Option>>;
  /** Options that become parameters of the query, each with the name of its parameter. */
  query?: Readonly<Record<string, Option & { parameter: string }>>;
  /** A list that can be very long: so many rows from its beginning, unless `--limit` says otherwise. */
  first?: number;
  /** What is sent whatever the options. */
  body?: Row;
  /** Where the rows of a list are; and its columns, where they are not the resource's. */
  list?: string;
  columns?: readonly Column<Row>[];
  /** The list has no pages. */
  whole?: true;
  /** A path that is PUT first, with the fields: what an upload registers. */
  registerPath?: string;
  /** What people see after it, in the past tense. */
  done?: string;
  /** What people see besides the answer. */
  note?: string;
  examples: readonly string[];
}

export interface Resource {
  resource: string;
  columns: readonly Column<Row>[];
  verbs: readonly Verb[];
}

export const column = (head: string, field: string): Column<Row> => ({ head, cell: (row) => fieldText(row[field]) });
export const flexible = (head: string, field: string): Column<Row> => ({ ...column(head, field), flexible: true });
export const date = (head: string, field: string): Column<Row> => ({ head, cell: (row) => timeText(row[field]) });

export const SHOWN_ONCE = 'It is shown here and never again.';
