import type { ErrorObject, ValidateFunction } from 'ajv';
import { DomainError, type Fault } from './errors.ts';
import { pointerParts, toFaults, WRAPPERS } from './faults.ts';
import type { TakeOut } from './keywords.ts';
import type { SchemaTypes } from './types.ts';

/** A message without its faulty parts, and the faults of these parts. */
export interface Reading<Value> {
  value: Value;
  /** The faults in the message; their values were removed from it. */
  leftOut: readonly Fault[];
  /** The removed members that the schema does not know: their number, and the names of the first. */
  unknown: { count: number; names: readonly string[] };
  /** The lists that have lost items, with the positions that their other items had before. */
  shortened: ReadonlyMap<object, readonly number[]>;
}

type Validators = (name: keyof SchemaTypes) => ValidateFunction;

// Names in the log are bounded in number and length, because a message can hold thousands.
const NAMES_KEPT = 20;
const LONGEST_NAME = 64;

const NO_FAULTS: readonly Fault[] = [];
const NOTHING_UNKNOWN = { count: 0, names: [] };
const NOTHING_SHORTENED: Reading<unknown>['shortened'] = new Map();

/**
 * Reads messages of devices tolerantly, so that newer firmware, or one wrong value, does not lose the rest of a message.
 * Members that a schema does not know are removed, at every level. A wrong value is removed with the smallest optional part
 * around it: in `{ lang, battery: { level, charging } }` a bad `level` removes `battery`; a bad item of a list is removed
 * alone. Where the schema has `x-instead`, this value takes the place of a wrong or a missing one, and all around it stays. If
 * no such part is optional, the whole message is wrong, and the reader throws REQUEST_INVALID with every fault. It changes
 * the value in place.
 *
 * @param validatorsOf makes the validators; they call the given function for each member that their schemas do not know
 */
export function createTolerantReader(validatorsOf: (takeOut: TakeOut) => Validators) {
  let unknown: { count: number; names: string[] } | undefined; // the unknown members of the message that is being read
  const validators = validatorsOf((from, name) => {
    delete from[name];
    unknown ??= { count: 0, names: [] };
    unknown.count += 1;
    if (unknown.names.length < NAMES_KEPT) unknown.names.push(name.slice(0, LONGEST_NAME));
  });

  return (schema: keyof SchemaTypes, value: unknown): Reading<unknown> => {
    unknown = undefined;
    const validate = validators(schema);
    if (validate(value))
      return { value, leftOut: NO_FAULTS, unknown: unknown ?? NOTHING_UNKNOWN, shortened: NOTHING_SHORTENED };
    const leftOut = toFaults(validate.errors ?? [], ['body']);
    const replaced = new Map<string, number>();
    const shortened = new Map<unknown[], number[]>();
    let round = 0;
    do {
      round += 1;
      const gaps = new Set<unknown[]>();
      for (const error of validate.errors ?? []) {
        if (
          !WRAPPERS.has(error.keyword) &&
          !putInstead(value, error, { replaced, round }) &&
          !leaveOut(value, error, gaps)
        )
          throw new DomainError('REQUEST_INVALID', { details: leftOut });
      }
      for (const list of gaps) closeGaps(list, shortened);
    } while (!validate(value)); // a removed value may have been required, so its parent is now invalid
    return { value, leftOut, unknown: unknown ?? NOTHING_UNKNOWN, shortened };
  };
}

/** The value that a schema names for the place of a wrong one. */
const insteadOf = (schema: unknown): { value: unknown } | undefined =>
  typeof schema === 'object' && schema !== null && 'x-instead' in schema
    ? { value: structuredClone(schema['x-instead']) }
    : undefined;

/**
 * Replaces the member that an error is about by the value that its schema names for this. Returns false when it names none,
 * or when the member is already removed. Each member is replaced in one round only, or a value that a later round removes
 * would come back for ever; `replaced` holds the round of each place.
 */
function putInstead(
  message: unknown,
  error: ErrorObject,
  { replaced, round }: { replaced: Map<string, number>; round: number },
): boolean {
  const { instancePath, keyword, params, parentSchema } = error;
  const path = pointerParts(instancePath);
  const properties = parentSchema?.['properties'] as Record<string, unknown> | undefined;
  if (keyword === 'required') path.push(String(params['missingProperty']));
  const member = path.pop();
  const instead = insteadOf(keyword === 'required' ? properties?.[member ?? ''] : parentSchema);
  const place = JSON.stringify([...path, member]);
  if (!instead || member === undefined) return false;
  const before = replaced.get(place);
  if (before !== undefined) return before === round;
  let owner = message;
  for (const name of path) owner = (owner as Record<string, unknown> | null | undefined)?.[name];
  if (typeof owner !== 'object' || owner === null) return false;
  (owner as Record<string, unknown>)[member] = instead.value;
  replaced.set(place, round);
  return true;
}

/**
 * Removes the member or the item of a list that an error is about, whichever is nearer. An item leaves a gap, so that the
 * others keep their positions for further errors; its list is added to `gaps`. Returns false when the error is about the
 * whole message.
 */
function leaveOut(message: unknown, { instancePath }: ErrorObject, gaps: Set<unknown[]>): boolean {
  let value = message;
  let owner: Record<string, unknown> | undefined;
  let member = '';
  for (const name of pointerParts(instancePath)) {
    if (typeof value !== 'object' || value === null) return true; // already removed, with a part of the message around it
    owner = value as Record<string, unknown>;
    member = name;
    value = owner[name];
  }
  if (!owner) return false;
  delete owner[member];
  if (Array.isArray(owner)) gaps.add(owner);
  return true;
}

/** Closes the gaps of a list, and notes the positions that its items had in the message. */
function closeGaps(list: unknown[], shortened: Map<unknown[], number[]>): void {
  const before = shortened.get(list);
  const positions = Object.keys(list).map(Number); // those of gaps are missing
  const items = positions.map((position) => list[position]);
  list.splice(0, list.length, ...items);
  shortened.set(list, before ? positions.map((position) => before[position]!) : positions);
}
