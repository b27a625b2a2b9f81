import type { SqlValue } from '../sql.ts';

/** A value bound to a PostgreSQL statement; arrays are used only inside this folder. */
export type Bound = SqlValue | readonly SqlValue[];

interface Statement {
  /** The name of the prepared statement; equal for equal texts. */
  name: string;
  text: string;
  /** Whether the statement changes nothing; it may lock rows. */
  reads: boolean;
}

// Literals are matched too, so that a `?` inside one is not taken for a parameter.
export const PARAMETER = /'(?:[^']|'')*'|\?/g;
const READS = /^\s*(SELECT|VALUES|SHOW)\b/i;

/**
 * Maps the text of each statement, with `?` for its parameters, to its form for PostgreSQL, with `$1`, `$2` and so on.
 * Texts contain no values, so there are only as many as the code has statements.
 */
const statements = new Map<string, Statement>();

export function statementOf(text: string): Statement {
  let found = statements.get(text);
  if (!found) {
    let number = 0;
    const numbered = text.replace(PARAMETER, (part) => {
      if (part !== '?') return part;
      number += 1;
      return `$${number}`;
    });
    found = { name: `s${statements.size + 1}`, text: numbered, reads: READS.test(text) };
    statements.set(text, found);
  }
  return found;
}

/** PostgreSQL cannot store U+0000 in a text, so it becomes U+FFFD, as undecodable bytes do everywhere. */
const storableText = (value: string): string => (value.includes('\0') ? value.replaceAll('\0', '\u{FFFD}') : value);

/** An array quotes a text that has one of these characters. */
const QUOTED = /["\\\0]/;
/** An escape of JSON that PostgreSQL reads as another text: it takes each character behind a backslash as it is. */
const OF_JSON_ALONE = /\\[^"\\]/;

/** A text as an item of an array. JSON quotes texts in the same way but for some characters, in a third of the time. */
function itemText(value: string): string {
  if (!QUOTED.test(value)) return `"${value}"`;
  const json = JSON.stringify(value);
  return OF_JSON_ALONE.test(json) ? `"${storableText(value).replaceAll(/["\\]/g, '\\$&')}"` : json;
}

/** An array in PostgreSQL's text form (manual, 8.15.6). */
function arrayText(values: readonly SqlValue[]): string {
  const items = values.map((value) => {
    if (value === null) return 'NULL';
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' ? itemText(value) : `"\\\\x${value.toString('hex')}"`;
  });
  return `{${items.join(',')}}`;
}

/** The value in the form that is sent to the server. */
export function storable(value: Bound): SqlValue {
  if (typeof value === 'string') return storableText(value);
  return typeof value === 'object' && value !== null && !Buffer.isBuffer(value) ? arrayText(value) : value;
}
