import { readFile } from 'node:fs/promises';
import type { Deprecations } from '../../runtime/deprecations.ts';
import { referredSchema, SCHEMA_FOLDER, type SchemaDocument, type SchemaName } from './contracts.ts';

export type Json = Record<string, unknown>;

/** Of OpenAPI and AsyncAPI documents: what readers of this project look at. */
export interface ApiDocument extends Json {
  servers: unknown;
  components: Record<string, Json>;
}

interface Parts {
  /** `contracts.documents`: from it, what was removed is gone already. */
  schemas: ReadonlyMap<SchemaName, SchemaDocument>;
  serves: Deprecations['serves'];
}

// Keywords of our own have the names of extensions in a document for others, or speak to our tools only.
const RENAMED: Record<string, string | null> = {
  $schema: null,
  tsType: null,
  settingUrl: null,
  maxJsonBytes: 'x-max-json-bytes',
  maxUtf8Bytes: 'x-max-utf8-bytes',
  maxDepth: 'x-max-depth',
};

/**
 * `schemas/openapi.yaml` or `schemas/asyncapi.yaml` as one document that needs no other file: every schema that it
 * refers to is in its components, by title; a component that nothing refers to is left out, and so is what says
 * `x-internal` (nobody's interface) or `x-while-served` with the name of a feature that was removed.
 *
 * Not a library's work: those that bundle (Redocly's, json-schema-ref-parser) name components by their files, know
 * nothing of what is left out here, and would be 20 packages of the running service.
 */
export async function readApiDocument(file: 'openapi.yaml' | 'asyncapi.yaml', parts: Parts): Promise<ApiDocument> {
  // Loaded with the first document, not at start.
  const { parse } = await import('yaml');
  return bundle(parse(await readFile(`${SCHEMA_FOLDER}${file}`, 'utf8')) as ApiDocument, parts);
}

function bundle({ components: all, ...rest }: ApiDocument, { schemas, serves }: Parts): ApiDocument {
  // Security schemes are referred to by name only.
  const components: ApiDocument['components'] = all['securitySchemes']
    ? { securitySchemes: all['securitySchemes'] }
    : {};

  /** Puts a component into the document, once, and what it refers to with it. */
  function need(section: string, name: string, node: unknown, from: SchemaName | undefined): string {
    components[section] ??= {};
    if (!Object.hasOwn(components[section], name)) {
      components[section][name] = null; // it may refer to itself
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
