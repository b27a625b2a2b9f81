import { DomainError } from '../../errors.ts';

/**
 * Reads a query parameter by the schema common/moment into microseconds since the epoch; undefined when it is absent.
 * Throws REQUEST_INVALID for a day that its month does not have.
 */
export function momentOf<Name extends string>(
  query: { readonly [Key in Name]?: string },
  name: Name,
): number | undefined {
  const text = query[name];
  return text === undefined ? undefined : readMoment(text, 'query', name);
}

/** Reads a text in the same way; `loc` is its place in the request. */
export function readMoment(text: string, ...loc: string[]): number {
  const seconds = text.slice(0, 19);
  const date = new Date(`${seconds}Z`);
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(seconds)) {
    throw DomainError.invalid({ loc, msg: 'Input should be a valid date and time', type: 'string_pattern_mismatch' });
  }
  return date.getTime() * 1000 + Number(text.slice(20, -1).padEnd(6, '0'));
}
