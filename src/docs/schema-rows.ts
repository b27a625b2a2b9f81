import type { ApiDocument } from '../contracts/api-document.ts';

/** A field of a message, as a line of a table. */
export interface SchemaRow {
  /** `data.connections[].movieFile` */
  path: string;
  type: string;
  required: boolean;
  deprecated: boolean;
  description: string;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  deprecated?: boolean;
  pattern?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  if?: Schema;
  then?: Schema;
  else?: Schema;
}

/** Follows a reference; what stands beside it wins. */
function resolved(schema: Schema, document: ApiDocument): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1];
  if (name === undefined) return schema;
  const target = resolved((document.components['schemas']?.[name] ?? {}) as Schema, document);
  const { $ref: _, ...beside } = schema;
  return { ...target, ...beside };
}

function typeOf(schema: Schema, document: ApiDocument): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const type = Array.isArray(schema.type) ? schema.type.join(' | ') : (schema.type ?? 'any');
  const item = schema.items && resolved(schema.items, document);
  return item && !item.properties ? `${type} of ${typeOf(item, document)}` : type;
}

/** The fields of an object, with those of the objects and lists in it. */
export function schemaRows(schema: object, document: ApiDocument, prefix = ''): SchemaRow[] {
  const { properties = {}, required = [], items } = resolved(schema, document);
  if (items) return schemaRows(items, document, `${prefix}[]`);
  return Object.entries(properties).flatMap(([name, reference]) => {
    const property = resolved(reference, document);
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const row = {
      path,
      type: typeOf(property, document),
      required: required.includes(name),
      deprecated: property.deprecated === true,
      description: property.description ?? '',
    };
    return [row, ...schemaRows(property, document, path)];
  });
}

/** A field whose form depends on another: `parameters`, when `operation` is `activate`. */
export interface SchemaCase {
  when: string;
  rows: SchemaRow[];
}

/** The cases of an `if`, `then`, `else if` chain that give fields a schema; those that only require something have none. */
export function schemaCases(schema: object, document: ApiDocument): SchemaCase[] {
  const { if: condition, then, else: otherwise } = resolved(schema, document);
  if (!condition) return [];
  const when = Object.entries(condition.properties ?? {})
    .map(
      ([name, value]) =>
        `\`${name}\` ${value.pattern ? `matches \`${value.pattern}\`` : `is \`${typeOf(value, document)}\``}`,
    )
    .join(', ');
  const rows = then ? schemaRows(then, document).slice(Object.keys(then.properties ?? {}).length === 1 ? 1 : 0) : [];
  return [...(rows.length > 0 ? [{ when, rows }] : []), ...(otherwise ? schemaCases(otherwise, document) : [])];
}
