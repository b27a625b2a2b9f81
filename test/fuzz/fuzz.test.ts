import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { readerOf } from '@lapel/schemas/imports/import-lines';
import t from 'tap';
import type { FuzzedParser } from './parser.ts';
import { PARSERS } from './parsers.ts';
import { inputOf, tryInput } from './try-input.ts';

/** A short round of `npm run try -- soak fuzz`, the same each time. */
const SEED = 27;
/** The numbers of inputs of parsers that take longer for each, or shorter. */
const INPUTS: Readonly<Record<string, number>> = {
  mqtt: 1000,
  mqtt5: 1000,
  axml: 600,
  apk: 300,
  yaml: 40,
  csv: 80,
  selector: 900,
};
const OTHERS = 150;

for (const [name, parser] of Object.entries(PARSERS)) {
  t.test(
    `${name}: changed documents are read or refused as promised, in time that grows with their length`,
    async (t) => {
      const inputs = INPUTS[name] ?? OTHERS;
      let accepted = 0;
      for (let number = 0; number < inputs; number += 1) {
        try {
          if (await tryInput(parser, SEED, number)) accepted += 1;
        } catch (error) {
          t.fail(`npm run try -- soak fuzz --only ${name} --seed ${SEED} --number ${number}`, {
            error: error as Error,
          });
        }
      }
      t.ok(accepted > parser.documents.length, 'some of the changed documents are still valid');
      t.ok(accepted < inputs, 'others are refused');
    },
  );
}

t.test('a column of a file whose name has thousands of parts is one unknown name', async (t) => {
  const name = `a${'.'.repeat(3000)}`;
  const lines = [];
  const file = Readable.from([Buffer.from(`deviceId,a.b.c,${name}\n1,2,3\n`)]);
  for await (const line of readerOf('text/csv')!(file)) lines.push(JSON.parse(JSON.stringify(line)) as object);
  t.same(lines, [{ line: 2, value: { deviceId: '1', a: { b: { c: '2' } }, [name]: '3' } }]);
});

t.test('the same seed and number give the same input, others give another one', async (t) => {
  const parser = PARSERS['mqtt']!;
  const from = parser.documents.length;
  const hashes = Array.from({ length: 300 }, (_, index) =>
    createHash('sha256')
      .update(inputOf(parser, 1 + (index % 3), from + index))
      .digest('hex'),
  );
  t.same(inputOf(parser, 1, from), inputOf(parser, 1, from));
  t.ok(new Set(hashes).size > 290);
});

const BOUND = { always: 1000, perByte: 0 };

t.test('a parser that breaks a promise is found', async (t) => {
  const documents = [Buffer.from('valid')];
  const base = { documents, words: [] };
  const broken: Readonly<Record<string, FuzzedParser>> = {
    'unforeseen error': { ...base, read: () => (undefined as unknown as Buffer).length > 0 },
    'valid document': { ...base, read: () => false },
    'processor time': {
      ...base,
      read() {
        for (const end = process.threadCpuUsage().user + 2 * BOUND.always; process.threadCpuUsage().user < end; );
        return true;
      },
    },
  };
  for (const [what, parser] of Object.entries(broken)) await t.rejects(tryInput(parser, 1, 0, BOUND), what);
});
