import { readFile } from 'node:fs/promises';
import { referredSchema, SCHEMA_FOLDER, type SchemaDocument, type SchemaName } from './contracts.ts';
import type { Deprecations } from './deprecations.ts';

export type Json = Record<string, unknown>;

/** An OpenAPI or AsyncAPI document, with the members that this code reads. */
export interface ApiDocument extends Json {
  servers: unknown;
  components: Record<string, Json>;
}

interface Parts {
  /** `contracts.documents`: the schemas without the properties that are no longer served. */
  schemas: ReadonlyMap<SchemaName, SchemaDocument>;
  serves: Deprecations['serves'];
}

// In a published document, keywords that only this project knows become extensions (`x-`). Keywords for its own tools
// are removed (null).
const RENAMED: Record<string, string | null> = {
  $schema: null,
  tsType: null,
  settingUrl: null,
  maxJsonBytes: 'x-max-json-bytes',
  minUtf8Bytes: 'x-min-utf8-bytes',
  maxUtf8Bytes: 'x-max-utf8-bytes',
  maxDepth: 'x-max-depth',
};

/**
 * Reads `schemas/openapi.yaml` or `schemas/asyncapi.yaml` into one document that needs no other file. Every schema that it
 * refers to becomes a component, named by its title. Left out are: components without a reference to them, parts marked
 * `x-internal` (not part of the interface), and parts marked `x-while-served` with a feature that was removed.
 *
 * No library is used, because those that bundle (Redocly's, json-schema-ref-parser) name components by their files, cannot
 * leave out these parts, and would add 20 packages to the running service.
 */
export async function readApiDocument(file: 'openapi.yaml' | 'asyncapi.yaml', parts: Parts): Promise<ApiDocument> {
  // The parser is loaded with the first document, to keep the start fast.
  const { parse } = await import('yaml');
  return bundle(parse(await readFile(`${SCHEMA_FOLDER}${file}`, 'utf8')) as ApiDocument, parts);
}

function bundle({ components: all, ...rest }: ApiDocument, { schemas, serves }: Parts): ApiDocument {
  // Security schemes have no `$ref` to them, only their names, so all are kept.
  const components: ApiDocument['components'] = all['securitySchemes']
    ? { securitySchemes: all['securitySchemes'] }
    : {};

  /** Puts a component, and all components that it refers to, into the document once. Returns the reference to it. */
  function need(section: string, name: string, node: unknown, from: SchemaName | undefined): string {
    components[section] ??= {};
    if (!Object.hasOwn(components[section], name)) {
      components[section][name] = null; // entered before its content is copied, because the content may refer to it
      components[section][name] = copy(node, from);
    }
    return `#/components/${section}/${name}`;
  }

  function resolved(reference: string, from: SchemaName | undefined): string {
    const [, section = '', name = ''] = /^#\/components\/([^/]+)\/([^/]+)$/.exec(reference) ?? [];
    if (section !== '') return need(section, name, all[section]?.[name], from);
    if (reference.startsWith('#')) return reference;
    const schema = referredSchema(from, reference);
    const document = schemas.get(schema);
    if (!document) throw new Error(`${reference} is not a schema`);
    return need('schemas', document.title, document, schema);
  }

  function copy(node: unknown, from: SchemaName | undefined): unknown {
    if (Array.isArray(node)) return node.filter(isShown).map((item) => copy(item, from));
    if (typeof node !== 'object' || node === null) return node;
    const made: Json = {};
    for (const [key, value] of Object.entries(node)) {
      if (key === 'x-while-served' || !isShown(value)) continue;
      const name = RENAMED[key] === undefined ? key : RENAMED[key];
      if (name !== null) made[name] = key === '$ref' ? resolved(String(value), from) : copy(value, from);
    }
    return made;
  }

  const isShown = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null) return true;
    const { 'x-internal': internal, 'x-while-served': feature } = node as Json;
    return internal !== true && (feature === undefined || serves(feature as Parameters<Deprecations['serves']>[0]));
  };

  const document = copy(rest, undefined) as Json;
  if (components['schemas']) components['schemas'] = sorted(components['schemas']);
  return { ...document, components } as ApiDocument;
}

const sorted = (named: Json): Json => Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
