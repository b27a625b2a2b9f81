import { _, type Ajv2020 } from 'ajv/dist/2020.js';
import type { DataValidateFunction, ErrorObject, KeywordErrorDefinition } from 'ajv/dist/types/index.js';
import { isLanguageTag } from './language-tag.ts';

/** What is wrong with the URL of a setting, or undefined. The rule belongs to the applications; it is passed in. */
export type UrlFault = (url: string) => { type: string; msg: string } | undefined;

const overLimit: KeywordErrorDefinition = {
  message: 'must not exceed its limit',
  params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
};

/**
 * What the schemas use beyond JSON Schema 2020-12: the formats `imei` and `language-tag`, and the keywords
 * `maxUtf8Bytes`, `maxDepth` and `settingUrl`.
 */
export function addKeywords(ajv: Ajv2020, urlFault: UrlFault): void {
  // `tsType` speaks to the generator of types only.
  ajv.addVocabulary(['tsType']);
  ajv.addFormat('imei', { type: 'string', validate: hasCheckDigit });
  ajv.addFormat('language-tag', { type: 'string', validate: isLanguageTag });
  ajv.addKeyword({
    keyword: 'maxUtf8Bytes',
    type: 'string',
    schemaType: 'number',
    error: overLimit,
    // Three bytes hold any UTF-16 unit, so most names need no counting.
    validate: (limit: number, text: string) => text.length * 3 <= limit || Buffer.byteLength(text) <= limit,
  });
  // What is stored is written by JSON.stringify, which overflows the stack some thousand levels down.
  ajv.addKeyword({
    keyword: 'maxDepth',
    type: 'object',
    schemaType: 'number',
    error: overLimit,
    validate: (limit: number, value: unknown) => isWithin(value, limit),
  });
  const settingUrl: DataValidateFunction & { errors?: Partial<ErrorObject>[] } = (url: string) => {
    const fault = urlFault(url);
    settingUrl.errors = fault ? [{ keyword: 'settingUrl', message: fault.msg, params: fault }] : [];
    return fault === undefined;
  };
  ajv.addKeyword({ keyword: 'settingUrl', type: 'string', schemaType: 'boolean', compile: () => settingUrl });
}

/** True when no object or list lies deeper than so many levels, the value itself being the first. */
function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isWithin(member, levels - 1));
}

/** Luhn's check over 15 digits (3GPP TS 23.003 6.2.1 and annex B). Other shapes pass: the pattern beside it refuses them. */
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
