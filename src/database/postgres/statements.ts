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
const PARAMETER = /'(?:[^']|'')*'|\?/g;
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
export const storable = (value: Bound): Bound =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u{FFFD}') : value;
