import type { ErrorObject, ValidateFunction } from 'ajv';
import { DomainError, type Fault } from '../../errors.ts';
import { pointerParts, toFaults, WRAPPERS } from './faults.ts';
import type { TakeOut } from './keywords.ts';
import type { SchemaTypes } from './types.ts';

/** What could be read of a message. */
export interface Reading<Value> {
  value: Value;
  /** What was wrong and has been left out of the value. */
  leftOut: readonly Fault[];
  /** Members that nobody knows: how many there were, and the names of the first. They have been taken out, too. */
  unknown: { count: number; names: readonly string[] };
}

type Validators = (name: keyof SchemaTypes) => ValidateFunction;

// For the log; a message can hold thousands.
const NAMES_KEPT = 20;
const LONGEST_NAME = 64;

const NO_FAULTS: readonly Fault[] = [];
const NOTHING_UNKNOWN = { count: 0, names: [] };

/**
 * Reads messages of devices tolerantly: firmware that is newer than this service, or wrong in one place, loses nothing
 * else by it. Members that a schema does not know are taken out, at every level. A value that is wrong is left out with
 * the smallest optional part around it: of `{ lang, battery: { level, charging } }` with a bad `level` the `battery`, of
 * a list with a bad item the list. Only when that is the whole message it throws, REQUEST_INVALID with every fault.
 * Values are changed in place.
 *
 * @param validatorsOf validators that call its argument for members that their schemas do not know
 */
export function createTolerantReader(validatorsOf: (takeOut: TakeOut) => Validators) {
  let unknown: { count: number; names: string[] } | undefined; // of the message that is being read
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
    } while (!validate(value)); // what required it is wrong now
    return { value, leftOut, unknown: unknown ?? NOTHING_UNKNOWN };
  };
}

/** Takes what an error speaks of out of the object that it is a member of; false when that is the whole message. */
function leaveOut(message: unknown, { instancePath }: ErrorObject): boolean {
  let object = message;
  let owner: Record<string, unknown> | undefined;
  let member = '';
  for (const name of pointerParts(instancePath)) {
    if (typeof object !== 'object' || object === null) return true; // gone with a part around it
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
