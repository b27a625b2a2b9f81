import { isRecord } from '../mqtt/messages.ts';

/** The most differences that one comparison reports, and the most characters of a value in it. */
const MOST = 5;
const LONGEST = 80;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}

/** A field with another value than expected; `wanted` and `found` are its values as JSON. */
export interface Difference {
  readonly field: string;
  readonly wanted: string;
  readonly found: string;
}

/**
 * Compares a value with the wanted one, and lists the fields that differ. null and a missing field count as equal.
 * Objects may have the additional members `more`, at any depth.
 */
export function differences(
  field: string,
  wanted: unknown,
  found: unknown,
  more: ReadonlySet<string> = new Set(),
): Difference[] {
  const parts = (): Difference[] | undefined => {
    if (Array.isArray(wanted) && Array.isArray(found) && wanted.length === found.length)
      return wanted.flatMap((one, index) => differences(`${field}[${index}]`, one, found[index], more));
    if (!isRecord(wanted) || !isRecord(found)) return undefined;
    const names = new Set([...Object.keys(wanted), ...Object.keys(found).filter((name) => !more.has(name))]);
    return [...names].flatMap((name) => differences(`${field}.${name}`, wanted[name], found[name], more));
  };
  if ((wanted ?? null) === (found ?? null)) return [];
  return (parts() ?? [{ field, wanted: shown(wanted), found: shown(found) }]).slice(0, MOST);
}
