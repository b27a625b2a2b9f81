import type { SqlValue } from '../sql.ts';

/** What is bound to a statement of PostgreSQL; arrays only for what this room says itself. */
export type Bound = SqlValue | readonly SqlValue[];

interface Statement {
  /** Of the prepared statement; the same for the same text. */
  name: string;
  text: string;
  /** It changes nothing, though it may lock. */
  reads: boolean;
}

// Text of a literal is left as it is: no `?` in it is a parameter.
export const PARAMETER = /'(?:[^']|'')*'|\?/g;
const READS = /^\s*(SELECT|VALUES|SHOW)\b/i;

/** The texts of the service as PostgreSQL takes them: `?` becomes `$1`, `$2` and so on. There are as many as the code has. */
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

/** U+0000 is no character of text in PostgreSQL: it becomes U+FFFD, as what cannot be read does everywhere. */
const storableText = (value: string): string => (value.includes('\0') ? value.replaceAll('\0', '\u{FFFD}') : value);

/** An array in PostgreSQL's text form (manual, 8.15.6). */
function arrayText(values: readonly SqlValue[]): string {
  const items = values.map((value) => {
    if (value === null) return 'NULL';
    if (typeof value === 'number') return String(value);
    if (typeof value !== 'string') return `"\\\\x${value.toString('hex')}"`;
    const text = storableText(value);
    return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;
  });
  return `{${items.join(',')}}`;
}

/** A value as it goes to the server. */
export function storable(value: Bound): SqlValue {
  if (typeof value === 'string') return storableText(value);
  return typeof value === 'object' && value !== null && !Buffer.isBuffer(value) ? arrayText(value) : value;
}
