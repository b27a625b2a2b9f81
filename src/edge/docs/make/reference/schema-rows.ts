import type { ApiDocument } from '@lapel/schemas/contracts/api-document';

/** A field of a message, as a row of a table. */
export interface SchemaRow {
  /** The path of the field, such as `data.connections[].movieFile`. */
  path: string;
  type: string;
  required: boolean;
  deprecated: boolean;
  description: string;
  /** The limits of the field in words (range, length, format); an empty text when it has none. */
  limits: string;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  deprecated?: boolean;
  pattern?: string;
  'x-pattern-message'?: string;
  'x-max-utf8-bytes'?: number;
  'x-max-json-bytes'?: number;
  'x-max-depth'?: number;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  if?: Schema;
  then?: Schema;
  else?: Schema;
}

/** Replaces a `$ref` by the schema that it names. Members of the schema beside the `$ref` take precedence. */
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

/** Puts two limits into words: `1 to 128 characters`, `at most 32 entries`. Without limits the text is empty. */
function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return '';
  const bounds =
    least === undefined ? `at most ${most}` : most === undefined ? `${least} or more` : `${least} to ${most}`;
  return unit === '' ? bounds : `${bounds} ${unit}`;
}

const FORMATS: Record<string, string> = { imei: 'the last digit is a check digit (Luhn)' };

function limitsOf(schema: Schema, document: ApiDocument): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties, format = '' } = schema;
  const item = schema.items && resolved(schema.items, document);
  const ofItems = item && !item.properties ? limitsOf(item, document) : '';
  return [
    range(minimum, maximum, ''),
    range(minLength, maxLength, 'characters'),
    range(undefined, schema['x-max-utf8-bytes'], 'bytes of UTF-8'),
    range(minItems, maxItems, 'entries'),
    range(undefined, maxProperties, 'members'),
    range(undefined, schema['x-max-json-bytes'], 'bytes of JSON'),
    range(undefined, schema['x-max-depth'], 'levels deep'),
    schema['x-pattern-message']?.replace(/^String should (?:be |have )?/, '') ?? '',
    FORMATS[format] ?? '',
    ofItems && `each ${ofItems}`,
  ]
    .filter((limit) => limit !== '')
    .join('; ');
}

/** The fields of an object, including those of nested objects and lists. */
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
      limits: limitsOf(property, document),
    };
    return [row, ...schemaRows(property, document, path)];
  });
}

/** A field whose schema depends on another field: `parameters`, when `operation` is `activate`. */
interface SchemaCase {
  when: string;
  rows: SchemaRow[];
}

/**
 * Lists the cases of a chain of `if`, `then`, `else if` in a schema, each with the fields that it describes. A case
 * that only makes a field required describes none, and is left out.
 */
export function schemaCases(schema: object, document: ApiDocument): SchemaCase[] {
  const { if: condition, then, else: otherwise } = resolved(schema, document);
  if (!condition) return [];
  const when = Object.entries(condition.properties ?? {})
    .map(
      ([name, value]) =>
        `\`${name}\` ${value.pattern ? `begins with \`${value.pattern.replace(/[\^\\]/g, '')}\`` : `is \`${typeOf(value, document)}\``}`,
    )
    .join(', ');
  const all = then ? schemaRows(then, document) : [];
  // When a case describes one field only, its name is known from the condition, so only the fields below it are listed.
  const rows = all.length > 1 && Object.keys(then?.properties ?? {}).length === 1 ? all.slice(1) : all;
  return [...(rows.length > 0 ? [{ when, rows }] : []), ...(otherwise ? schemaCases(otherwise, document) : [])];
}
