import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import t from 'tap';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');

interface Operation {
  operationId?: string;
  requestBody?: { content: Record<string, { schema?: { $ref?: string } }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/** All operations of both documents that may change something. */
const writes = ['openapi.yaml', 'openapi-admin.yaml'].flatMap((name) => {
  const { paths } = parse(readFileSync(join(ROOT, 'schemas', name), 'utf8')) as Document;
  return Object.values(paths).flatMap((item) =>
    ['post', 'put', 'patch', 'delete'].flatMap((method) => (item[method] ? [item[method]] : [])),
  );
});

const [withOne = '', withoutOne = ''] = readFileSync(join(ROOT, 'docs/dry-runs.md'), 'utf8').split(
  '## Calls without one',
);
const idsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split(' | ')[0]!.matchAll(/`(\w+)`/g)].map(([, id = '']) => id));

t.test('each call that changes something has a dry run, or the documents say why not', async (t) => {
  const all = [...new Set(writes.map(({ operationId = '' }) => operationId))];
  t.ok(all.length > 100);
  t.same([...idsIn(withOne), ...idsIn(withoutOne)].toSorted(), all.toSorted());
});

t.test('the calls of which the documents say that they have one take dryRun, and no others', async (t) => {
  const { documents } = loadContracts({ serves: () => true });
  const takes = ({ requestBody }: Operation): boolean =>
    Object.values(requestBody?.content ?? {}).some(({ schema }) => {
      const name = /\.\/(.+)\.json$/.exec(schema?.$ref ?? '')?.[1];
      return (
        name !== undefined && 'dryRun' in ((documents.get(name as never) as { properties?: object })?.properties ?? {})
      );
    });
  const found = new Set(writes.filter(takes).map(({ operationId = '' }) => operationId));
  t.same(idsIn(withOne).toSorted(), [...found].toSorted());
});
