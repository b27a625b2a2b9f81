import { createHash } from 'node:crypto';
import { hasReference } from '../read/references.ts';
import type { Change } from './plan.ts';

/** Writes a value as JSON whose members are in one order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

export const isSame = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other);

/** A digest of a state that a plan has seen. */
export const digestOf = (state: unknown): string =>
  createHash('sha256')
    .update(canonical(state) ?? 'nothing')
    .digest('base64url')
    .slice(0, 22);

const hasReferences = (value: unknown): boolean => {
  if (typeof value === 'string') return hasReference(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasReferences);
};

/**
 * The fields that differ. Fields that the file does not name are not compared. The value before a field with a reference
 * is not shown: it can be a secret as well.
 */
export function changesOf<Value extends object>(
  fields: readonly (keyof Value & string)[],
  { value, written }: { value: Value; written: Value },
  answer: object,
): Change[] {
  const present = answer as Readonly<Record<string, unknown>>;
  return fields.flatMap((field): Change[] => {
    const wanted = value[field];
    if (wanted === undefined || isSame(wanted, present[field] ?? null)) return [];
    const is = present[field] ?? null;
    const before = is !== null && hasReferences(written[field]) ? 'another value' : is;
    return [{ field, before, after: written[field] }];
  });
}

/** The fields of an object that is made. */
export const fieldsOf = <Value extends object>(fields: readonly (keyof Value & string)[], written: Value): Change[] =>
  fields.flatMap((field) => (written[field] === undefined ? [] : [{ field, after: written[field] }]));

/** The members of a value with these names. */
export const pick = <Value extends object, Name extends keyof Value>(
  value: Value,
  names: readonly Name[],
): Pick<Value, Name> =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]]))) as Pick<
    Value,
    Name
  >;
