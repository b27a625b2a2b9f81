// The grammar of RFC 5646 2.1, part by part; letters are of either case.
const LANGUAGE = '(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})';
const SCRIPT = '(?:-[a-z]{4})?';
const REGION = '(?:-(?:[a-z]{2}|\\d{3}))?';
const VARIANTS = '(?:-(?:[a-z\\d]{5,8}|\\d[a-z\\d]{3}))*';
const EXTENSIONS = '(?:-[a-wyz\\d](?:-[a-z\\d]{2,8})+)*';
const PRIVATE_USE = 'x(?:-[a-z\\d]{1,8})+';
// Tags that were registered before the grammar and do not follow it ("irregular"); the "regular" ones follow it.
const IRREGULAR =
  'en-gb-oed|i-ami|i-bnn|i-default|i-enochian|i-hak|i-klingon|i-lux|i-mingo|i-navajo|i-pwn|i-tao|i-tay|i-tsu|sgn-be-fr|sgn-be-nl|sgn-ch-de';

const TAG = new RegExp(
  `^(?:${LANGUAGE}${SCRIPT}${REGION}${VARIANTS}${EXTENSIONS}(?:-${PRIVATE_USE})?|${PRIVATE_USE}|${IRREGULAR})$`,
  'i',
);

/** The most characters of a language tag; no tag in use comes near this length. */
const LONGEST = 255;

/**
 * True for a well-formed language tag (RFC 5646 2.2.9). It does not check that the subtags are registered; the device knows
 * which it supports.
 */
export const isLanguageTag = (text: string): boolean => text.length <= LONGEST && TAG.test(text);
