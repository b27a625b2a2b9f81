import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { InputData, JSONSchemaInput, JSONSchemaStore, quicktypeMultiFile } from 'quicktype-core';
import { ROOT } from '../release/lockfile.ts';
import { clientOperations, type Schema, schemaOf, shapeOf } from './operations.ts';

type Language = 'python' | 'go' | 'java';

const COMBINATORS = ['oneOf', 'anyOf', 'allOf'];
const KEPT = new Set([
  'title',
  'description',
  'type',
  'items',
  'properties',
  'additionalProperties',
  'required',
  '$ref',
]);

/**
 * A schema as far as a client believes it. A later release may answer with values that this one does not know, so lists of
 * values and bounds are left out: the service checks what it gets. A member of several types is any JSON.
 */
function believed(schema: Schema & Record<string, unknown>): Schema {
  if (schema.$ref !== undefined) return { $ref: schema.$ref };
  const { description } = schema;
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  const isMixed = types.length > 1 || (!schema.properties && COMBINATORS.some((name) => name in schema));
  if (isMixed) return description === undefined ? {} : { description };
  const kept = Object.fromEntries(Object.entries(schema).filter(([name]) => KEPT.has(name))) as Schema;
  const parts = Object.entries(schema.properties ?? {}).map(([name, part]) => [name, believed(part as never)] as const);
  const { additionalProperties, items } = kept;
  return {
    ...kept,
    ...(types.length === 0 && ('enum' in schema || 'const' in schema) && { type: 'string' }),
    ...(schema.properties && { properties: Object.fromEntries(parts) }),
    ...(items && { items: believed(items as never) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: believed(additionalProperties as never) }),
  };
}

class Store extends JSONSchemaStore {
  async fetch(address: string): Promise<never> {
    return believed(JSON.parse(readFileSync(fileURLToPath(address.replace(/#.*/, '')), 'utf8')) as never) as never;
  }
}

/** The schemas whose types a client has: bodies, queries and answers of its operations. */
const schemasOfClients = (): string[] => {
  const named = clientOperations().flatMap(({ body, query, answer }) => [body, query, answer]);
  const shapes = named.flatMap((name) => (name === undefined ? [] : [shapeOf(name)]));
  return [...new Set(shapes.flatMap((shape) => (shape.kind === 'any' ? [] : [shape.schema])))].sort();
};

/** The types of the API in a language, as files, and the name of the type of each schema. */
export async function typesOf(
  language: Language,
  options: Record<string, string>,
): Promise<{ files: Map<string, string>; nameOf(schema: string): string }> {
  const input = new JSONSchemaInput(new Store());
  const schemas = schemasOfClients();
  for (const name of schemas) {
    const schema = schemaOf(name);
    const uris = [pathToFileURL(join(ROOT, 'schemas', `${name}.json`)).href];
    await input.addSource({ name: schema.title ?? name, schema: JSON.stringify(believed(schema as never)), uris });
  }
  const inputData = new InputData();
  inputData.addInput(input);
  const made = await quicktypeMultiFile({
    inputData,
    lang: language,
    rendererOptions: options as never,
    combineClasses: false,
    inferMaps: false,
    inferEnums: false,
    inferUuids: false,
    inferDateTimes: false,
    inferIntegerStrings: false,
    inferBooleanStrings: false,
  });
  const files = new Map([...made].map(([name, { lines }]) => [name, `${lines.join('\n').trimEnd()}\n`]));
  const declared = [...files.values()].flatMap((text) =>
    [...text.matchAll(/^(?:public )?(?:class|type) (\w+)/gm)].map(([, name = '']) => name),
  );
  const byName = new Map(declared.map((name) => [name.toLowerCase(), name]));
  return {
    files,
    nameOf(schema) {
      const name = byName.get((schemaOf(schema).title ?? '').toLowerCase());
      if (name === undefined) throw new Error(`there is no type of ${schema} in ${language}`);
      return name;
    },
  };
}
