import type { ErrorObject, ValidateFunction } from 'ajv';
import { DomainError, type Fault } from '../../errors.ts';
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
}

type Validators = (name: keyof SchemaTypes) => ValidateFunction;

// Names in the log are bounded in number and length, because a message can hold thousands.
const NAMES_KEPT = 20;
const LONGEST_NAME = 64;

const NO_FAULTS: readonly Fault[] = [];
const NOTHING_UNKNOWN = { count: 0, names: [] };

/**
 * Reads messages of devices tolerantly, so that newer firmware, or one wrong value, does not lose the rest of a message.
 * Members that a schema does not know are removed, at every level. A wrong value is removed with the smallest optional part
 * around it: in `{ lang, battery: { level, charging } }` a bad `level` removes `battery`, a bad item of a list removes the
 * list. If no such part is optional, the whole message is wrong, and the reader throws REQUEST_INVALID with every fault. It
 * changes the value in place.
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
    if (validate(value)) return { value, leftOut: NO_FAULTS, unknown: unknown ?? NOTHING_UNKNOWN };
    const leftOut = toFaults(validate.errors ?? [], ['body']);
    do {
      for (const error of validate.errors ?? []) {
        if (!WRAPPERS.has(error.keyword) && !leaveOut(value, error))
          throw new DomainError('REQUEST_INVALID', { details: leftOut });
      }
    } while (!validate(value)); // a removed value may have been required, so its parent is now invalid
    return { value, leftOut, unknown: unknown ?? NOTHING_UNKNOWN };
  };
}

/**
 * Removes the member that an error is about, from the nearest object around it. Returns false when there is none,
 * because the error is about the whole message.
 */
function leaveOut(message: unknown, { instancePath }: ErrorObject): boolean {
  let object = message;
  let owner: Record<string, unknown> | undefined;
  let member = '';
  for (const name of pointerParts(instancePath)) {
    if (typeof object !== 'object' || object === null) return true; // already removed, with a part of the message around it
    if (!Array.isArray(object)) {
      owner = object as Record<string, unknown>;
      member = name;
    }
    object = (object as Record<string, unknown>)[name];
  }
  if (!owner) return false;
  delete owner[member];
  return true;
}
