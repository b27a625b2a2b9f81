// Writes src/contracts/types.ts from schemas/; with --check it writes nothing and fails when the file is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile, type JSONSchema } from 'json-schema-to-typescript';

const schemas = fileURLToPath(new URL('../schemas/', import.meta.url));
const output = fileURLToPath(new URL('../src/contracts/types.ts', import.meta.url));

const names = readdirSync(schemas, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replaceAll('\\', '/').slice(0, -'.json'.length))
  .sort();

// One root that refers to every file, so that each becomes one named type, however many refer to it.
const root = {
  title: 'SchemaTypes',
  description: 'The type of every schema, by its name: `rest/wifi-settings` is `schemas/rest/wifi-settings.json`.',
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { $ref: `${name}.json` }])),
  required: names,
  additionalProperties: false,
} as const;

const generated = await compile(root as unknown as JSONSchema, 'SchemaTypes', {
  cwd: schemas,
  bannerComment: '// Generated from schemas/ by `npm run generate`; edit the schemas instead.',
  additionalProperties: false,
  ignoreMinAndMaxItems: true,
  style: { singleQuote: true, printWidth: 120 },
});

if (!process.argv.includes('--check')) {
  writeFileSync(output, generated);
} else if (readFileSync(output, 'utf8') !== generated) {
  console.error('src/contracts/types.ts does not match schemas/. Run `npm run generate` and commit the result.');
  process.exitCode = 1;
}
