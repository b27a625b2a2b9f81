import { DomainError } from '@lapel/schemas/contracts/errors';

/**
 * Reads a query parameter that is a point in time (schema common/moment) into microseconds since 1970; undefined when
 * it is absent. Throws REQUEST_INVALID for a day that its month does not have.
 */
export function momentOf<Name extends string>(
  query: { readonly [Key in Name]?: string },
  name: Name,
): number | undefined {
  const text = query[name];
  return text === undefined ? undefined : readMoment(text, 'query', name);
}

/**
 * Reads a text of the schema common/moment in the same way. `loc` is the position of the text in the request, for an
 * error.
 */
export function readMoment(text: string, ...loc: string[]): number {
  const seconds = text.slice(0, 19);
  const date = new Date(`${seconds}Z`);
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(seconds)) {
    throw DomainError.invalid({ loc, msg: 'Input should be a valid date and time', type: 'string_pattern_mismatch' });
  }
  return date.getTime() * 1000 + Number(text.slice(20, -1).padEnd(6, '0'));
}

/**
 * Reads a text of the schema common/either-time into microseconds since 1970: a moment in UTC, or a local date-time, which
 * `parseLocal` reads. Throws REQUEST_INVALID for a day that its month does not have.
 */
export function readEither(text: string, parseLocal: (text: string) => number, ...loc: string[]): number {
  if (text.endsWith('Z')) return readMoment(text, ...loc);
  readMoment(`${text}Z`, ...loc); // only for its check of the day
  return parseLocal(`${text.slice(0, 19)}.${text.slice(20).padEnd(6, '0')}`);
}

/** Reads the parameters `since` and `until` of a query into microseconds since 1970; absent ones are left out. */
export function periodOf(query: { readonly since?: string; readonly until?: string }): {
  since?: number;
  until?: number;
} {
  const [since, until] = [momentOf(query, 'since'), momentOf(query, 'until')];
  return { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
}
