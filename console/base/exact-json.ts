// JSON.parse with source text access (ES2026); TypeScript does not know it yet, and older browsers do not have it.
type Reviver = (this: unknown, name: string, value: unknown, context: { source: string }) => unknown;
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;
const { rawJSON } = JSON as unknown as { rawJSON?(text: string): object };

/** Finds a number that JavaScript may write in another way. It also finds times, which only costs a slower parse. */
const OTHER = /\d{16}|\d[.eE]|-0/;

/**
 * Parses JSON so that JSON.stringify writes each number as it was written: 12345678901234567890, 1.0. A number that
 * JavaScript would write in another way is an object (JSON.rawJSON). All numbers of the service itself stay numbers; those of
 * devices go through JSON.stringify before they are shown.
 */
export function parseExact(text: string): unknown {
  if (!rawJSON || !OTHER.test(text)) return JSON.parse(text);
  return parse(text, (_, value, { source }) =>
    typeof value === 'number' && String(value) !== source ? rawJSON(source) : value,
  );
}

/** The number, rounded, of a value of `parseExact`. */
export const numberOf = (value: unknown): number => Number(JSON.stringify(value));
