// The grammar of RFC 5646 2.1, part by part; letters are of either case.
const LANGUAGE = '(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})';
const SCRIPT = '(?:-[a-z]{4})?';
const REGION = '(?:-(?:[a-z]{2}|\\d{3}))?';
const VARIANTS = '(?:-(?:[a-z\\d]{5,8}|\\d[a-z\\d]{3}))*';
const EXTENSIONS = '(?:-[a-wyz\\d](?:-[a-z\\d]{2,8})+)*';
const PRIVATE_USE = 'x(?:-[a-z\\d]{1,8})+';
// Registered before the grammar, and not of it ("irregular"); the "regular" ones are.
const IRREGULAR =
  'en-gb-oed|i-ami|i-bnn|i-default|i-enochian|i-hak|i-klingon|i-lux|i-mingo|i-navajo|i-pwn|i-tao|i-tay|i-tsu|sgn-be-fr|sgn-be-nl|sgn-ch-de';

const TAG = new RegExp(
  `^(?:${LANGUAGE}${SCRIPT}${REGION}${VARIANTS}${EXTENSIONS}(?:-${PRIVATE_USE})?|${PRIVATE_USE}|${IRREGULAR})$`,
  'i',
);

/** Whoever has one that is longer means nobody any good. */
const LONGEST = 255;

/** True for a well-formed language tag (RFC 5646 2.2.9). Whether its subtags are registered is for the device to know. */
export const isLanguageTag = (text: string): boolean => text.length <= LONGEST && TAG.test(text);
