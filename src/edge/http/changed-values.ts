import { isDeepStrictEqual } from 'node:util';

/** The most characters of a value, as JSON, that the audit log keeps. */
const LONGEST = 1_000;

function kept(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text !== undefined && text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : (value ?? null);
}

/**
 * The members that a change has given other values, before and after it. Long values are cut. Secrets are hidden by the
 * audit log.
 */
export function changedValues(before: object, after: object): { before: object; after: object } {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const names = Object.keys(now).filter((name) => !isDeepStrictEqual(old[name] ?? null, now[name] ?? null));
  const of = (values: Record<string, unknown>): object =>
    Object.fromEntries(names.map((name) => [name, kept(values[name])]));
  return { before: of(old), after: of(now) };
}
