// Writes src/clients/client/operations.ts, the typed client's table of operations, from schemas/openapi.yaml and the routes.
// With --check it writes nothing, and fails when the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { ROUTES } from '../src/edge/api/routes.ts';
import { settingValues } from './setting-values.ts';

interface Operation {
  summary: string;
  'x-specification-row': string;
  responses: Record<
    string,
    { content?: { 'application/json'?: { schema: { $ref: string } }; 'text/event-stream'?: object } }
  >;
  parameters?: { $ref?: string }[];
}

const output = fileURLToPath(new URL('../src/clients/client/operations.ts', import.meta.url));
const document = parse(readFileSync(new URL('../schemas/openapi.yaml', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

/** `./rest/wifi-settings.json` -> `SchemaTypes['rest/wifi-settings']`. */
const typeOf = (name: string): string => `SchemaTypes['${name}']`;
const nameOf = (reference: string): string => reference.replace(/^\.\/(.+)\.json$/, '$1');

const types: string[] = [];
const rows: string[] = [];
for (const route of ROUTES.filter(({ scope }) => scope !== null)) {
  const operation = document.paths[route.path]?.[route.method.toLowerCase()];
  if (!operation) throw new Error(`${route.method} ${route.path} is not documented`);
  if (operation.responses['200']?.content?.['text/event-stream']) continue; // a stream, which the client does not return
  const { name } = route;
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param);
  const input = names
    .filter((param) => param !== 'applicationId')
    .map((param) => `${param}: ${param === 'transactionId' ? 'number' : 'string'}`);
  if (route.body !== undefined) input.push(`body${route.bodyOptional ? '?' : ''}: ${typeOf(route.body)}`);
  if (route.query !== undefined) {
    // Members of a query that have a default may be left out.
    const queryType = typeOf(route.query);
    const required = route.query === 'rest/connectivity-query';
    input.push(required ? `query: ${queryType}` : `query?: Partial<${queryType}>`);
  }
  const good = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const schema = good?.[1].content?.['application/json']?.schema.$ref;
  const repeatable = operation.parameters?.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey')) ?? false;
  const inputType = input.length === 0 ? 'object' : `{ ${input.join('; ')} }`;
  types.push(
    `  /** ${operation.summary} (${operation['x-specification-row']}). */`,
    `  ${name}: { input: ${inputType}; answer: ${schema ? typeOf(nameOf(schema)) : 'undefined'} };`,
  );
  const values = [`method: '${route.method}'`, `path: '${route.path}'`, `scope: '${route.scope}'`];
  if (repeatable) values.push('repeatable: true');
  rows.push(`  ${name}: { ${values.join(', ')} },`);
}

const generated = `// Generated from schemas/openapi.yaml by \`npm run generate\`; edit that instead.
// biome-ignore-all format: a table is read by its rows
import type { SchemaTypes } from '../../platform/contracts/types.ts';

/** Every operation of the application API, with its input (apart from the application) and its answer. */
export interface Operations {
${types.join('\n')}
}

/** The method, the path and the scope of each operation. A repeatable one accepts an Idempotency-Key. */
export const OPERATIONS: Record<keyof Operations, { method: string; path: string; scope: string; repeatable?: true }> = {
${rows.join('\n')}
};

${settingValues()}`;

if (!process.argv.includes('--check')) {
  writeFileSync(output, generated);
} else if (readFileSync(output, 'utf8') !== generated) {
  console.error(
    'src/clients/client/operations.ts does not match schemas/openapi.yaml. Run `npm run generate` and commit.',
  );
  process.exitCode = 1;
}
