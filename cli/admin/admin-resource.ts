import type { AdminOperations } from '@lapel/client/admin-operations';
import type { Option } from '../line/options.ts';
import type { Text } from '../show/look.ts';
import { type Column, fieldText, timeText } from '../show/table.ts';

export type Row = Readonly<Record<string, unknown>>;

/** An option that becomes a field of the body. */
export interface Field extends Option {
  field: string;
  /**
   * `number`: a whole number; `json` and `text`: the content of a file (`-` is standard input); `flag`: true if it is
   * given.
   */
  kind?: 'number' | 'json' | 'text' | 'flag';
  /** The help text of `--no-OPTION`, which sends null. */
  none?: string;
}

/** An operation of the administration API as a command. */
export interface Verb {
  /** The verb in the name of the command; empty when the command has the name of the resource alone. */
  verb: string;
  /** True when `verb` is a noun, such as `status`; messages then say "read the status of the device". */
  isNoun?: true;
  summary: string;
  about?: string;
  operation: keyof AdminOperations;
  /**
   * The arguments of the command in order, each with the parameter that it sets: a `{parameter}` of the path, a field
   * of the body, or for GET a parameter of the query. An argument in brackets is optional. The developerId of a path is
   * the option `--developer` when it is not among the arguments.
   */
  arguments?: Readonly<Record<string, string>>;
  /** `list`: fetches all pages; `upload`: sends the file to the URL of the answer; otherwise one request is made. */
  kind?: 'list' | 'upload';
  fields?: Readonly<Record<string, Field>>;
  /** Options without a value; a given one becomes `true` in the query. */
  flags?: Readonly<Record<string, Option>>;
  /**
   * Options that become parameters of the query, each with the name of its parameter, and of the option that must be
   * given, too.
   */
  query?: Readonly<Record<string, Option & { parameter: string; needs?: string }>>;
  /** For lists that can be very long: the number of rows without `--limit`. */
  first?: number;
  /** The most rows of a page, if the operation gives fewer than others. */
  most?: number;
  /** Fields that every request of this verb has in its body. */
  body?: Row;
  /**
   * The member of the answer that contains the rows of a list. `columns` are the columns of this list, when they differ
   * from those of the resource.
   */
  list?: string;
  columns?: readonly Column<Row>[];
  /** True when the service answers the whole list at once, without pages. */
  whole?: true;
  /** The operation that registers the version, with the fields of the verb, before an upload to it. */
  registers?: keyof AdminOperations;
  /** The text that reports success, in the past tense. */
  done?: string;
  /** The answer as text, when its fields alone would be hard to read. */
  show?(answer: Row): Text;
  /** The problem that an answer reports, which makes the exit code 1; undefined without one. */
  fails?(answer: Row): string | undefined;
  /** An additional text for people, after the answer. */
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

export const SHOWN_ONCE = 'It is shown only now, and never again.';
