import { loadContracts, referredSchema, type SchemaName } from '@lapel/schemas/contracts/contracts';

type Schema = Record<string, unknown>;

/** Keywords of this project, which editors do not know. */
const OWN = new Set(['$schema', 'tsType', 'x-pattern-message', 'x-instead', 'settingUrl', 'format', 'title']);
/** A text with a reference, which may stand in the place of any text. */
const REFERENCE = { type: 'string', pattern: '\\$\\{(env|file):[^{}]+\\}' };

const nameOf = (schema: SchemaName): string => schema.replaceAll('/', '-');

/**
 * The JSON Schema of the files in one document, for editors: the schemas of the API, by which the service checks as
 * well, with references in the place of texts.
 */
export function editorSchemaText(): string {
  const { documents } = loadContracts();
  const definitions = new Map<string, unknown>();

  function define(schema: SchemaName): string {
    const name = nameOf(schema);
    if (!definitions.has(name)) {
      definitions.set(name, {}); // a schema may refer to itself
      definitions.set(name, rewrite(documents.get(schema), schema));
    }
    return `#/$defs/${name}`;
  }

  /** Rewrites the members of an object whose keys are names that people chose. */
  const named = (value: object, from: SchemaName): Schema =>
    Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rewrite(one, from)]));

  function rewrite(value: unknown, from: SchemaName): unknown {
    if (Array.isArray(value)) return value.map((one) => rewrite(one, from));
    if (typeof value !== 'object' || value === null) return value;
    const schema = value as Schema;
    const made: Schema = {};
    for (const [key, one] of Object.entries(schema)) {
      if (key === '$ref') made[key] = define(referredSchema(from, String(one)));
      else if (key === 'properties') made[key] = named(one as object, from);
      else if (key === 'enum' || key === 'const' || key === 'default' || key === 'examples') made[key] = one;
      else if (!OWN.has(key)) made[key] = rewrite(one, from);
    }
    const message = schema['x-pattern-message'];
    if (typeof message === 'string') made['patternErrorMessage'] = message;
    const isBound = [schema['pattern'], schema['maxLength'], schema['minLength']].some((one) => one !== undefined);
    if (schema['type'] !== 'string' || !isBound) return made;
    const { description, ...rules } = made;
    return { ...(description !== undefined && { description }), anyOf: [rules, REFERENCE] };
  }

  const root = rewrite(documents.get('files/configuration'), 'files/configuration') as Schema;
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Files of lapel plan and lapel apply',
    ...root,
    $defs: Object.fromEntries([...definitions].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
