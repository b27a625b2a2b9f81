import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { SCHEMA_FOLDER, type SchemaName } from '@lapel/schemas/contracts/contracts';
import type { parse } from 'yaml';

interface Reference {
  $ref: string;
}
export type Schema = Reference | { oneOf: Reference[] } | { type: string };
export interface Header {
  required?: boolean;
  schema: { const?: string };
}
export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
export interface Response {
  description: string;
  headers: Record<string, Header>;
  content?: Record<string, Media>;
}
export interface Operation {
  operationId: string;
  summary: string;
  security: Record<string, string[]>[];
  parameters: { name: string; in: string; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
  'x-specification-row'?: string;
  /** The role that an operation of administration needs. */
  'x-role'?: string;
}
export interface OpenApi {
  /** Keys like `GET /v1/applications/{applicationId}`. */
  operations: Map<string, Operation>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];

/**
 * Replaces every reference into the document itself; references to files stay. A part with several references exists
 * once.
 */
function resolve(document: unknown): unknown {
  const known = new Map<string, unknown>();
  function target(reference: string): unknown {
    let node = document as Record<string, unknown> | undefined;
    for (const part of reference.slice(2).split('/')) node = node?.[part] as Record<string, unknown> | undefined;
    if (node === undefined) throw new Error(`${reference} leads nowhere`);
    const found = known.get(reference) ?? resolved(node);
    known.set(reference, found);
    return found;
  }
  function resolved(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(resolved);
    if (typeof node !== 'object' || node === null) return node;
    const reference = (node as Partial<Reference>).$ref;
    if (reference?.startsWith('#/')) return target(reference);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value)]));
  }
  return resolved(document);
}

const require = createRequire(import.meta.url);
const KEPT = join(import.meta.dirname, '../../.tap/documents');

/** A document in YAML. Parsing one takes a third of the start of a test file, so the result is kept, by content. */
function parsed(file: string): unknown {
  const text = readFileSync(`${SCHEMA_FOLDER}${file}`, 'utf8');
  const kept = join(KEPT, `${createHash('sha256').update(text).digest('hex')}.json`);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'));
  const document: unknown = (require('yaml') as { parse: typeof parse }).parse(text);
  mkdirSync(KEPT, { recursive: true });
  writeFileSync(`${kept}.${process.pid}`, JSON.stringify(document));
  renameSync(`${kept}.${process.pid}`, kept);
  return document;
}

const read = (file: string): Record<string, never> => resolve(parsed(file)) as Record<string, never>;

export function readOpenApi(file: 'openapi.yaml' | 'openapi-admin.yaml'): OpenApi {
  const { paths } = read(file) as unknown as { paths: Record<string, Record<string, Operation>> };
  const operations = new Map<string, Operation>();
  for (const [path, item] of Object.entries(paths)) {
    const shared = (item['parameters'] ?? []) as unknown as Operation['parameters'];
    for (const method of METHODS) {
      const operation = item[method];
      if (operation === undefined) continue;
      const parameters = [...shared, ...(operation.parameters ?? [])];
      operations.set(`${method.toUpperCase()} ${path}`, { ...operation, parameters });
    }
  }
  return { operations };
}

interface Message {
  name: string;
  payload: { schemaFormat: string; schema: Reference };
  examples?: { name?: string; payload: unknown }[];
  'x-operations'?: Record<string, { parameters: Reference; result?: Reference }>;
}
export interface AsyncApi {
  channels: Record<string, { address?: string; messages: Record<string, Message> }>;
  operations: Record<
    string,
    { action: 'send' | 'receive'; channel: AsyncApi['channels'][string]; bindings: { mqtt?: { qos: number } } }
  >;
}

export const readAsyncApi = (): AsyncApi => read('asyncapi.yaml') as unknown as AsyncApi;

/** `./rest/wifi-settings.json` -> `rest/wifi-settings`. */
export function schemaName(schema: Schema): SchemaName {
  const match = '$ref' in schema ? /^\.\/(.+)\.json$/.exec(schema.$ref) : null;
  if (!match) throw new Error(`not a reference to a schema file: ${JSON.stringify(schema)}`);
  return match[1] as SchemaName;
}

interface Template {
  template: string;
  parts: string[];
  methods: string[];
}

/** The templates of each document by their number of segments, because every request of a test is looked up. */
const templates = new WeakMap<OpenApi, Map<number, Template[]>>();

function templatesOf(document: OpenApi, segments: number): Template[] {
  let byLength = templates.get(document);
  if (!byLength) {
    const all = new Map<string, Template>();
    for (const key of document.operations.keys()) {
      const [method, template] = key.split(' ') as [string, string];
      const known = all.get(template);
      if (known) known.methods.push(method);
      else all.set(template, { template, parts: template.split('/'), methods: [method] });
    }
    byLength = Map.groupBy(all.values(), ({ parts }) => parts.length);
    templates.set(document, byLength);
  }
  return byLength.get(segments) ?? [];
}

/**
 * The path template for a request, with its methods. If several match, one without parameters comes first, and one with
 * the method before one without.
 */
export function findPath(
  document: OpenApi,
  method: string,
  path: string,
): { template: string; methods: string[] } | undefined {
  const segments = path.split('/');
  const named = ({ template }: Template): number => template.split('{').length;
  const all = templatesOf(document, segments.length)
    .filter(({ parts }) =>
      parts.every((part, index) => (part.startsWith('{') ? segments[index] !== '' : part === segments[index])),
    )
    .sort((a, b) => named(a) - named(b));
  return all.find(({ methods }) => methods.includes(method)) ?? all.at(-1);
}
