// Writes the names of the operations of devices (schemas/common/operation.json), and the parameters of each command
// (schemas/mqtt/command.json), from `x-operations` of schemas/asyncapi.yaml. With --check it writes nothing, and fails when
// a file is out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

interface AsyncApi {
  components: { messages: { command: { 'x-operations': Record<string, { parameters: { $ref: string } }> } } };
}

const folder = new URL('../../schemas/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const { components } = parse(read('asyncapi.yaml')) as AsyncApi;
const operations = Object.entries(components.messages.command['x-operations']);

/** By schema of parameters: the operations that have these parameters, in the order of the document. */
const commandsBySchema = new Map<string, string[]>();
for (const [name, { parameters }] of operations) {
  const schema = parameters.$ref.replace('./mqtt/', './');
  commandsBySchema.set(schema, [...(commandsBySchema.get(schema) ?? []), name]);
}

const chain = [...commandsBySchema].reduceRight<object | null>((rest, [schema, commands]) => {
  const named = commands.length === 1 ? { const: commands[0] } : { enum: commands };
  const branch = new Map<string, object>()
    .set('if', { type: 'object', properties: { operation: named } })
    .set('then', { properties: { parameters: { $ref: schema } } });
  if (rest !== null) branch.set('else', rest);
  return Object.fromEntries(branch);
}, null);

const names = operations.map(([name]) => name);
const operation = JSON.parse(read('common/operation.json')) as object;
const command = JSON.parse(read('mqtt/command.json')) as { properties: { operation: object } };
const generated = {
  'common/operation.json': { ...operation, enum: names.filter((name) => name !== 'cancel') },
  'mqtt/command.json': {
    ...command,
    properties: { ...command.properties, operation: { ...command.properties.operation, enum: names } },
    ...chain,
  },
};

const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
for (const [name, schema] of Object.entries(generated)) {
  const path = fileURLToPath(new URL(name, folder));
  const text = execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    input: JSON.stringify(schema, null, 2),
    encoding: 'utf8',
  });
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text);
  } else if (read(name) !== text) {
    console.error(
      `schemas/${name} does not match schemas/asyncapi.yaml. Run \`npm run generate\` and commit the result.`,
    );
    process.exitCode = 1;
  }
}
