import t from 'tap';
import { createBodyBytes } from '../../src/edge/http/body-bytes.ts';
import { createMetrics } from '../../src/metrics.ts';

const MEBIBYTE = 1024 ** 2;

t.test('a developer with many applications leaves room for the bodies of others', async (t) => {
  const bytes = createBodyBytes({ metrics: createMetrics() });
  const taken: string[] = [];
  for (let index = 0; index < 8; index += 1) {
    const source = `application ${index}`;
    if (!bytes.take({ source, developer: 'many' }, 10 * MEBIBYTE)) taken.push(source);
  }
  t.equal(taken.length, 3, 'it gets half of what there is');
  t.equal(bytes.take({ source: 'another', developer: 'few' }, 16 * MEBIBYTE), undefined);
  t.equal(
    bytes.take({ source: 'another', developer: 'few' }, MEBIBYTE),
    'source',
    'as one application has its own bound',
  );
  t.equal(bytes.take({ source: '127.0.0.1' }, 16 * MEBIBYTE), undefined, 'an address has none');
  for (const source of taken) bytes.giveBack({ source, developer: 'many' }, 10 * MEBIBYTE);
  t.equal(bytes.take({ source: 'application 9', developer: 'many' }, 16 * MEBIBYTE), undefined);
});
