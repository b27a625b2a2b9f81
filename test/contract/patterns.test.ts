import { loadContracts } from '@lapel/schemas/contracts/contracts';
import t from 'tap';

/** Texts in which the flag `u` of a regular expression could make a difference, and ordinary ones. */
const TEXTS = [
  'camera-07',
  'Ō𝒶🎥',
  '🎥',
  '🎥'.repeat(32),
  'site=🎥',
  `site=${'🎥'.repeat(64)}`,
  `site=${'🎥'.repeat(65)}`,
  'a\nb',
  'a\u0085b',
  'a\ud800b',
  'a\udc00b',
  '\ud83c',
  '',
  '490154203237518',
  '2026-11-20T09:30:00.123456Z',
];

/** Keys of WEP: nobody has one with characters beyond the Basic Multilingual Plane, which alone are counted differently. */
const WEP = '^(.{5}|.{13}|[0-9A-Fa-f]{10}|[0-9A-Fa-f]{26})$';

function patternsOf(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name === 'pattern' && typeof value === 'string' ? [value] : patternsOf(value),
  );
}

t.test('the patterns of schemas mean the same in validators that compile them without the flag u', async (t) => {
  const patterns = new Set(patternsOf([...loadContracts().documents.values()]));
  t.ok(patterns.size >= 25);
  for (const pattern of patterns) {
    const [plain, unicode] = [new RegExp(pattern), new RegExp(pattern, 'u')];
    for (const text of TEXTS.filter((one) => pattern !== WEP || !/[\ud800-\udfff]/.test(one)))
      t.equal(plain.test(text), unicode.test(text), `${pattern} ${JSON.stringify(text)}`);
    t.notMatch(pattern, /\\p\{/, 'a class that is known with the flag u only');
  }
});
