import { parse } from 'csv-parse/sync';
import { SETTINGS, type Setting, type Values } from '../customer/call-contents.ts';

/** The largest file, in characters, and the most rows in it. */
const LARGEST = 4 * 1024 * 1024;
const MOST_ROWS = 100_000;

/** The files beside a scenario. */
export interface Beside {
  exists(name: string): boolean;
  /** The text of a file; undefined if there is none. Throws if it cannot be read. */
  read(name: string): string | undefined;
}

/** A scenario that lies nowhere: files of releases are taken for granted, and there are none with values. */
export const NOWHERE: Beside = { exists: () => true, read: () => undefined };

export const takesValues = (doing: string): doing is Setting => Object.hasOwn(SETTINGS, doing);

/** The rows of a CSV text, by the columns of its first row; a string says what is wrong with it. */
function rowsOf(text: string, name: string): { columns: readonly string[]; rows: Values[] } | string {
  let columns: readonly string[] = [];
  try {
    const rows = parse(text, {
      bom: true,
      skip_empty_lines: true,
      trim: true,
      columns: (header: string[]) => {
        columns = header;
        return header;
      },
    }) as Values[];
    return { columns, rows };
  } catch (error) {
    return `${name} is no CSV: ${(error as Error).message}`;
  }
}

/** Reads the values of an action for its devices; a string says what is wrong with the file. */
export function readValues(doing: Setting, name: string, { read }: Beside): Values[] | string {
  let text: string | undefined;
  try {
    text = read(name);
  } catch (error) {
    return `${name} cannot be read: ${(error as Error).message}`;
  }
  if (text === undefined) return `there is no file "${name}"`;
  if (text.length > LARGEST)
    return `${name} is too large: it has ${text.length} characters, and at most ${LARGEST} are read`;
  const found = rowsOf(text, name);
  if (typeof found === 'string') return found;
  const { columns, rows } = found;
  if (columns.length === 0) return `${name} is empty`;
  const { needed } = SETTINGS[doing];
  const missing = needed.find((column) => !columns.includes(column));
  if (missing !== undefined)
    return `${name} has no column "${missing}", which ${doing} needs; it has ${columns.map((column) => `"${column}"`).join(', ')}`;
  if (rows.length === 0) return `${name} has no row below its header`;
  if (rows.length > MOST_ROWS) return `${name} has too many rows: ${rows.length}, and at most ${MOST_ROWS} are read`;
  for (const [at, row] of rows.entries()) {
    const empty = needed.find((column) => row[column] === '');
    if (empty !== undefined) return `${name} has no ${empty} in row ${at + 1} below its header`;
  }
  return rows;
}
