import type { ErrorObject } from 'ajv';
import { type Fault, MOST_FAULTS } from './errors.ts';

// By type of JSON Schema: the type of the fault, and the noun in its text.
const TYPES: Record<string, [type: string, noun: string]> = {
  string: ['string_type', 'string'],
  integer: ['int_type', 'integer'],
  number: ['int_type', 'number'],
  boolean: ['bool_type', 'boolean'],
  array: ['list_type', 'list'],
  object: ['dict_type', 'dictionary'],
};

const FORMATS: Record<string, string> = {
  imei: 'String should end with the check digit of its first 14 digits',
  'language-tag': 'String should be a well-formed language tag (BCP 47)',
};

// Keywords that combine schemas. Their errors are left out, because they only repeat the errors of the combined
// schemas.
export const WRAPPERS: ReadonlySet<string> = new Set(['if', 'anyOf', 'oneOf', 'allOf', 'not', 'propertyNames']);

/**
 * Turns the errors of a failed validation into faults of the interface (contract, section 1), in the order found. One real
 * mistake is one fault: of several at one place, a fault of the type wins, else the first. The list ends at one fault more
 * than an answer holds (MOST_FAULTS).
 *
 * @param place the origin of the value: `body`, `query` or `pathParameters`, and names below it
 */
export function toFaults(errors: readonly ErrorObject[], place: readonly string[]): Fault[] {
  const byPlace = new Map<string, Fault>();
  for (const error of errors) {
    if (WRAPPERS.has(error.keyword)) continue;
    const fault = toFault(error, place);
    const key = JSON.stringify(fault.loc);
    if (!byPlace.has(key) || error.keyword === 'type') byPlace.set(key, fault);
    if (byPlace.size > MOST_FAULTS) break;
  }
  return [...byPlace.values()];
}

function toFault(error: ErrorObject, place: readonly string[]): Fault {
  const name = error.propertyName === undefined ? [] : [error.propertyName];
  const loc = [...place, ...pointerParts(error.instancePath), ...name];
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return { loc: [...loc, String(params.missingProperty)], msg: 'Field required', type: 'missing' };
    case 'knownMembers':
      return forbidden([...loc, String(params.additionalProperty)]);
    case 'false schema':
      return forbidden(loc);
    case 'type': {
      const names = [params.type].flat().map(String);
      const [type, noun] = TYPES[names.find((name) => name !== 'null') ?? ''] ?? ['dict_type', 'dictionary'];
      return { loc, msg: `Input should be a valid ${noun}`, type };
    }
    case 'minLength':
      return { loc, msg: `String should have at least ${count(params.limit, 'character')}`, type: 'string_too_short' };
    case 'maxLength':
      return { loc, msg: `String should have at most ${count(params.limit, 'character')}`, type: 'string_too_long' };
    case 'minUtf8Bytes':
      return { loc, msg: `String should have at least ${count(params.limit, 'byte')}`, type: 'string_too_short' };
    case 'maxUtf8Bytes':
      return { loc, msg: `String should have at most ${count(params.limit, 'byte')}`, type: 'string_too_long' };
    case 'pattern':
      return mismatch(loc, String(error.parentSchema?.['x-pattern-message']));
    case 'plainText':
      return mismatch(loc, 'String should have no NUL characters and no lone surrogates');
    case 'format':
      return mismatch(loc, String(FORMATS[String(params.format)]));
    case 'enum':
      return { loc, msg: `Input should be ${choice(params.allowedValues as unknown[])}`, type: 'enum' };
    case 'const':
      return { loc, msg: `Input should be ${choice([params.allowedValue])}`, type: 'enum' };
    case 'minimum':
      return atLeast(loc, `Input should be greater than or equal to ${String(params.limit)}`);
    case 'maximum':
      return atMost(loc, `Input should be less than or equal to ${String(params.limit)}`);
    // The interface has no fault type for the length of a list; the one for the bound of a number comes nearest.
    case 'minItems':
      return atLeast(loc, `List should have at least ${count(params.limit, 'item')}`);
    case 'maxItems':
      return atMost(loc, `List should have at most ${count(params.limit, 'item')}`);
    case 'maxProperties':
      return atMost(loc, `Dictionary should have at most ${count(params.limit, 'member')}`);
    case 'maxDepth':
      return atMost(loc, `Input should be nested at most ${count(params.limit, 'level')} deep`);
    case 'maxJsonBytes':
      return atMost(loc, `Input should be at most ${count(params.limit, 'byte')} of JSON`);
    case 'settingUrl':
      return { loc, msg: String(params.msg), type: String(params.type) };
    default:
      throw new Error(`schemas use the keyword '${error.keyword}', which has no fault type in the interface`);
  }
}

const forbidden = (loc: string[]): Fault => ({
  loc,
  msg: 'Extra inputs are not permitted',
  type: 'extra_forbidden',
});
const mismatch = (loc: string[], msg: string): Fault => ({ loc, msg, type: 'string_pattern_mismatch' });
const atLeast = (loc: string[], msg: string): Fault => ({ loc, msg, type: 'greater_than_equal' });
const atMost = (loc: string[], msg: string): Fault => ({ loc, msg, type: 'less_than_equal' });

const count = (limit: unknown, noun: string): string => `${String(limit)} ${noun}${limit === 1 ? '' : 's'}`;

/** Joins alternatives: `'a', 'b' or 'c'`. */
function choice(values: readonly unknown[]): string {
  const quoted = values.map((value) => `'${String(value)}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

/** Splits a JSON pointer (RFC 6901): `/0/a~1b` is `['0', 'a/b']`. */
export function pointerParts(pointer: string): string[] {
  if (pointer === '') return [];
  const parts = pointer.slice(1).split('/');
  return pointer.includes('~') ? parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')) : parts;
}
