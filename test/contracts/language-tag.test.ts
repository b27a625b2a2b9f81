import { isLanguageTag } from '@lapel/schemas/contracts/language-tag';
import t from 'tap';

// biome-ignore format: a table is read by its rows
const WELL_FORMED = [
  // RFC 5646, appendix A
  'de', 'i-enochian', 'zh-Hant', 'sr-Cyrl', 'zh-cmn-Hans-CN', 'cmn-Hans-CN', 'zh-yue-HK', 'sr-Latn-RS', 'sl-rozaj',
  'sl-rozaj-biske', 'sl-nedis', 'de-CH-1901', 'sl-IT-nedis', 'hy-Latn-IT-arevela', 'de-DE', 'es-419', 'de-CH-x-phonebk',
  'az-Arab-x-AZE-derbend', 'x-whatever', 'qaa-Qaaa-QM-x-southern', 'de-Qaaa', 'sr-Qaaa-RS', 'en-US-u-islamcal',
  'zh-CN-a-myext-x-private', 'en-a-myext-b-another', 'ar-a-aaa-b-bbb-a-ccc',
  // either case, every length of a part, the longest tag in use
  'JA-jp', 'I-KLINGON', 'en-GB-oed', 'sgn-BE-FR', 'art-lojban', 'zh-min-nan', 'abcd', 'abcdefgh', 'en-1994', 'en-0-aa',
  'zh-aaa-bbb-ccc-Abcd-123-abcde-0abc', 'x-1-2-abcdefgh',
];

// biome-ignore format: a table is read by its rows
const NOT = [
  '', 'a', 'abcdefghi', 'de_DE', 'de-', '-de', 'de--DE', 'de DE', 'de-DE\n', '日本語', 'ja-JP.UTF-8', 'de-419-DE', 'a-DE',
  'de-1', 'de-abcdefghi', 'en-a', 'en-x', 'x', 'x-', 'x-abcdefghi', 'en-u-a', 'en-x-a-', 'i-foo', 'i', '12', 'e1',
  'zh-aaa-bbb-ccc-ddd', 'en-GB-oe', 'ſr', '*', 'en;q=0.5', '1e-DE', 'de-Ab1d',
];

t.test('a language tag is well-formed by the grammar of RFC 5646, and by nothing else', async (t) => {
  for (const tag of WELL_FORMED) t.ok(isLanguageTag(tag), tag);
  for (const text of NOT) t.notOk(isLanguageTag(text), JSON.stringify(text));
});
