import t from 'tap';
import { missing } from '../installed.ts';
import { runClass } from './java.ts';

/** Texts that the library writes as they are. */
const SAME = [
  '{"a":[1,-2.5,true,false,null,""],"b":{}}',
  '[9007199254740991,12345678901234567890,1e400,-0,1.0,1E+2,0.1e-7]',
  '{"カメラ":"🎥 \\"\\\\ \\n\\t\\u0001","":" "}',
  '"\\ud800 \\udc00"',
  `${'['.repeat(500)}${']'.repeat(500)}`,
  'null',
  '7',
];
/** Texts that it writes shorter. */
const SHORTER: [text: string, written: string][] = [
  [' { "a" :\t[ 1 ,\r\n2 ] } ', '{"a":[1,2]}'],
  ['{"a":1,"a":2}', '{"a":2}'],
  ['"\\u0041\\/\\ud83c\\udfa5"', '"A/🎥"'],
];
const FAULTS = [
  ['', ' ', '{', '[', '"', '[1', '{"a"', '{"a":', '{"a":1', '[1,]', '{"a":1,}', '{,}', '{a:1}', "{'a':1}", '[1 2]'],
  ['01', '-', '+1', '1.', '.5', '1e', '1e+', '0x10', 'NaN', 'Infinity', '-Infinity', '١', 'nul', 'True', 'undefined'],
  ['"\t"', '"\\x"', '"\\u12"', '"\\u00g0"', '"\\u٠٠٤١"', '"\\', '{}{}', 'null,', '\ufeff{}', '\u00a01', '//\n1'],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`],
].flat();

t.test(
  'the device library in Java reads the JSON that node reads, and keeps each number',
  { skip: missing.java() },
  async (t) => {
    const texts = [...SAME, ...SHORTER.map(([text]) => text), ...FAULTS];
    const lines = texts.map((text) => `${Buffer.from(text).toString('base64')}\n`);
    const written = (await runClass('Lines', ['json'], lines.join(''))).split('\n');
    for (const [at, text] of SAME.entries()) t.equal(written[at], text, text.slice(0, 60));
    for (const [at, [text, short]] of SHORTER.entries()) t.equal(written[SAME.length + at], short, text);
    for (const [at, text] of FAULTS.entries()) {
      t.match(written[SAME.length + SHORTER.length + at], /^fault: .* at position \d+$/, text.slice(0, 60));
      if (text.length < 1000) t.throws(() => JSON.parse(text), text);
    }
  },
);
