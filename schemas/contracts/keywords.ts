import { _, type Ajv2020, type Code } from 'ajv/dist/2020.js';
import { and } from 'ajv/dist/compile/codegen/index.js';
import type {
  CodeKeywordDefinition,
  DataValidateFunction,
  ErrorObject,
  KeywordErrorDefinition,
} from 'ajv/dist/types/index.js';
import { MOST_FAULTS } from './errors.ts';
import { isLanguageTag } from './language-tag.ts';

/**
 * Checks the URL of a setting: returns its fault, or undefined. Which URLs are allowed is decided by the core, so the
 * rule is passed in.
 */
export type UrlFault = (url: string) => { type: string; msg: string } | undefined;

const overLimit: KeywordErrorDefinition = {
  message: 'must not exceed its limit',
  params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
};

/** Removes from an object a member that its schema does not know. */
export type TakeOut = (from: Record<string, unknown>, name: string) => void;

interface Rules {
  urlFault: UrlFault;
  /** Removes unknown members, for messages that are read tolerantly. Without it, an unknown member is a fault. */
  takeOut?: TakeOut;
}

/** The most unknown members of one object that are reported as faults: one more than an answer holds. */
const UNKNOWN_MEMBERS = MOST_FAULTS + 1;

/**
 * Adds the formats and keywords that the schemas use beyond JSON Schema 2020-12: the formats `imei` and `language-tag`, the
 * keywords `minUtf8Bytes`, `maxUtf8Bytes`, `maxJsonBytes`, `maxDepth` and `settingUrl`, and those of the compiled form (see judgedSchema).
 */
export function addKeywords(ajv: Ajv2020, { urlFault, takeOut }: Rules): void {
  // `tsType` is read only by the generator of types, `x-pattern-message` only by the code that describes faults,
  // `x-instead` only by the tolerant reader.
  ajv.addVocabulary(['tsType', 'x-pattern-message', 'x-instead']);
  ajv.addFormat('imei', { type: 'string', validate: hasCheckDigit });
  ajv.addFormat('language-tag', { type: 'string', validate: isLanguageTag });
  ajv.addKeyword({
    keyword: 'maxUtf8Bytes',
    type: 'string',
    schemaType: 'number',
    error: overLimit,
    // No UTF-16 unit takes more than three bytes, so the bytes of most names need no counting.
    validate: (limit: number, text: string) => text.length * 3 <= limit || Buffer.byteLength(text) <= limit,
  });
  ajv.addKeyword({
    keyword: 'minUtf8Bytes',
    type: 'string',
    schemaType: 'number',
    error: overLimit,
    validate: (limit: number, text: string) => text.length >= limit || Buffer.byteLength(text) >= limit,
  });
  // Limits the depth, because stored values are written by JSON.stringify, which overflows the stack some thousand
  // levels down.
  ajv.addKeyword({
    keyword: 'maxDepth',
    type: 'object',
    schemaType: 'number',
    error: overLimit,
    validate: (limit: number, value: unknown) => isWithin(value, limit),
  });
  // Limits the size of a value as JSON. A value that is nested too deep passes here, because `maxDepth` refuses it.
  ajv.addKeyword({
    keyword: 'maxJsonBytes',
    type: 'object',
    schemaType: 'number',
    error: overLimit,
    validate: (limit: number, value: unknown, schema?: { maxDepth?: number }) =>
      leastRoom(value, limit, schema?.maxDepth ?? DEEPEST) >= 0 ||
      !isWithin(value, schema?.maxDepth ?? DEEPEST) ||
      Buffer.byteLength(JSON.stringify(value)) <= limit,
  });
  ajv.addKeyword(knownMembers(takeOut));
  const settingUrl: DataValidateFunction & { errors?: Partial<ErrorObject>[] } = (url: string) => {
    const fault = urlFault(url);
    settingUrl.errors = fault ? [{ keyword: 'settingUrl', message: fault.msg, params: fault }] : [];
    return fault === undefined;
  };
  ajv.addKeyword({ keyword: 'settingUrl', type: 'string', schemaType: 'boolean', compile: () => settingUrl });
  // plainText is the last keyword, so that a fault by a more specific rule of the same text is reported first.
  ajv.addKeyword({
    keyword: 'plainText',
    type: 'string',
    schemaType: 'boolean',
    error: { message: 'must have no NUL characters and no lone surrogates' },
    validate: (_: boolean, text: string) => text.isWellFormed() && !text.includes('\0'),
  });
}

/**
 * `additionalProperties: false`, with a bound of faults, or with removal. Generated as inline code, as ajv's own keyword is.
 */
const knownMembers = (takeOut: TakeOut | undefined): CodeKeywordDefinition => ({
  keyword: 'knownMembers',
  before: 'properties',
  type: 'object',
  schemaType: 'array',
  error: {
    message: 'must NOT have additional properties',
    params: ({ params }) => _`{additionalProperty: ${params['member']}}`,
  },
  code(cxt) {
    const { gen, data } = cxt;
    const names = cxt.schema as string[];
    const isUnknown = (name: Code): Code => and(_`true`, ...names.map((known) => _`${name} !== ${known}`));
    const found = takeOut ? undefined : gen.let('unknown', 0);
    gen.forIn('key', data, (name) =>
      gen.if(isUnknown(name), () => {
        if (takeOut) gen.code(_`${gen.scopeValue('func', { ref: takeOut })}(${data}, ${name})`);
        if (!found) return;
        cxt.setParams({ member: name });
        cxt.error();
        gen.code(_`if (++${found} === ${UNKNOWN_MEMBERS}) break`);
      }),
    );
  },
});

// The depth limit for values without a `maxDepth` of their own.
const DEEPEST = 64;
// The most bytes that JSON takes for a number, true, false or null; for one character of a text; and for the
// punctuation of a member or item (quotation marks, comma, colon).
const LONGEST_PLAIN = 25;
const LONGEST_ESCAPE = 6;
const PUNCTUATION = 4;

/**
 * An estimate that spares most values an exact measurement. It subtracts from `room` the most bytes that the value can
 * take as JSON. A result below 0 means that the value must be measured, or is nested too deep.
 */
function leastRoom(value: unknown, room: number, levels: number): number {
  if (typeof value === 'string') return room - value.length * LONGEST_ESCAPE - PUNCTUATION;
  if (typeof value !== 'object' || value === null) return room - LONGEST_PLAIN;
  let left = levels > 0 ? room - PUNCTUATION : -1;
  for (const name in value) {
    if (left < 0) return left;
    const rest = left - name.length * LONGEST_ESCAPE - PUNCTUATION;
    left = leastRoom((value as Record<string, unknown>)[name], rest, levels - 1);
  }
  return left;
}

/** Whether no object or list lies deeper than `levels`; the value itself is the first level. */
function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isWithin(member, levels - 1));
}

/**
 * Luhn's check over 15 digits (3GPP TS 23.003 6.2.1 and annex B). Texts of another length pass, because the schema's pattern
 * refuses them.
 */
export function hasCheckDigit(imei: string): boolean {
  if (imei.length !== 15) return true;
  let sum = 0;
  for (let index = 0; index < 15; index += 1) {
    const digit = imei.charCodeAt(index) - 48;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
