// Writes schemas/contracts/types.ts and the values beside it from schemas/, and the type of a scenario from its schema.
// With --check it writes nothing, and fails when a file is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { operationNames, settingValues } from './contract-values.ts';

const schemas = fileURLToPath(new URL('../../schemas/', import.meta.url));

const names = readdirSync(schemas, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json') && file !== 'package.json')
  .map((file) => file.replaceAll('\\', '/').slice(0, -'.json'.length))
  .sort();

// An object that refers to every schema is compiled as a whole, so that each schema becomes one named type, however
// many other schemas refer to it.
const root = {
  title: 'SchemaTypes',
  description: 'The type of every schema, by its name: `rest/wifi-settings` is `schemas/rest/wifi-settings.json`.',
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { $ref: `${name}.json` }])),
  required: names,
  additionalProperties: false,
} as const;

/**
 * A `$ref` with a description beside it becomes an `allOf` of one. Otherwise the description would make a copy of the type,
 * with a number behind its name.
 */
const asReference = (_key: string, value: unknown): unknown => {
  if (value === null || typeof value !== 'object' || !('$ref' in value)) return value;
  const { $ref, ...beside } = value;
  return Object.keys(beside).length === 0 ? value : { ...beside, allOf: [{ $ref }] };
};
const parsed = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'), asReference);
const readSchema = ({ url }: { url: string }): string =>
  JSON.stringify(parsed(url.startsWith('file:') ? fileURLToPath(url) : url));

const style = {
  additionalProperties: false,
  ignoreMinAndMaxItems: true,
  style: { singleQuote: true, printWidth: 120 },
};
/** A comment of one line has one line, as everywhere in this project. */
const inOneLine = (types: string): string => types.replaceAll(/\/\*\*\n *\* ([^\n]*)\n *\*\//g, '/** $1 */');
const scenario = fileURLToPath(new URL('../../device-sim/scenario/scenario.schema.json', import.meta.url));

const outputs = [
  {
    file: 'schemas/contracts/types.ts',
    from: 'schemas/',
    generated: inOneLine(
      await compile(root as unknown as JSONSchema, 'SchemaTypes', {
        cwd: schemas,
        $refOptions: { resolve: { file: { read: readSchema } } },
        bannerComment: '// Generated from schemas/ by `npm run generate`; edit the schemas instead.',
        ...style,
      }),
    ),
  },
  {
    file: 'device-sim/scenario/scenario-file.ts',
    from: 'its schema',
    generated: inOneLine(
      await compile(parsed(scenario) as JSONSchema, 'ScenarioFile', {
        bannerComment: '// Generated from scenario.schema.json by `npm run generate`; edit that instead.',
        ...style,
      }),
    ),
  },
  ...['schemas/contracts/values.ts', 'console/base/contract.ts'].map((file) => ({
    file,
    from: 'schemas/',
    generated: `// Generated from schemas/ by \`npm run generate\`; edit the schemas instead.
// biome-ignore-all format: generated

${settingValues({ deprecated: file.startsWith('schemas/') })}${file.startsWith('console/') ? `\n${operationNames()}` : ''}`,
  })),
];

for (const { file, from, generated } of outputs) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  if (!process.argv.includes('--check')) {
    writeFileSync(path, generated);
  } else if (readFileSync(path, 'utf8') !== generated) {
    console.error(`${file} does not match ${from}. Run \`npm run generate\` and commit the result.`);
    process.exitCode = 1;
  }
}
