import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API, answerOf, isStream, NUMBERS, operationsOf } from '../documented-operations.ts';
import { ROOT } from '../release/lockfile.ts';

/** An operation of the application API, as a client in any language needs it. */
export interface Operation {
  name: string;
  summary: string;
  method: string;
  path: string;
  /** The parameters of the path besides the application. */
  params: { name: string; isNumber: boolean }[];
  /** The names of the schemas: `rest/wifi-settings`. */
  body: string | undefined;
  bodyOptional: boolean;
  query: string | undefined;
  answer: string | undefined;
  ifMatch: boolean;
  /** Whether it takes an Idempotency-Key. */
  repeatable: boolean;
  /** Whether its answer is a page, and may name the next one. */
  isPaged: boolean;
}

export interface Schema {
  title?: string;
  description?: string;
  type?: string | string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  $ref?: string;
}

/** Reads a schema by its name. */
export const schemaOf = (name: string): Schema =>
  JSON.parse(readFileSync(join(ROOT, 'schemas', `${name}.json`), 'utf8')) as Schema;

const nameOf = (reference: string): string => reference.replace(/^\.\/(.+)\.json$/, '$1');

/** The routes that need a token, except streams, which are read by a connection that stays open. */
const served = operationsOf(API).filter((one) => !isStream(one));

/** The scopes of all operations, as a request for a token names them. */
export const SCOPES = [...new Set(served.map(({ route }) => route.scope))].join(' ');

/** All operations of a client. */
export const clientOperations = (): Operation[] =>
  served.map(({ route, documented }) => {
    const has = (name: string): boolean =>
      documented.parameters?.some(({ $ref }) => new RegExp(`/${name}$`).test($ref ?? '')) ?? false;
    const answer = answerOf(documented);
    const hasLink = documented.responses['200']?.headers?.['Link'] !== undefined;
    return {
      name: route.name,
      summary: documented.summary,
      method: route.method,
      path: route.path,
      params: [...route.path.matchAll(/\{(\w+)\}/g)]
        .map(([, name = '']) => ({ name, isNumber: NUMBERS.has(name) }))
        .filter(({ name }) => name !== 'applicationId'),
      body: route.body,
      bodyOptional: route.bodyOptional ?? false,
      query: route.query,
      answer: answer === undefined ? undefined : nameOf(answer),
      ifMatch: has('If(Match|Verdict)'),
      repeatable: has('IdempotencyKey'),
      // A `Link` without pages names the documents of a deprecation.
      isPaged: hasLink && route.query !== undefined && schemaOf(route.query).properties?.['limit'] !== undefined,
    };
  });

/** The shape of a schema in a client: an object with members, a list of such objects, or any JSON. */
export function shapeOf(name: string): { kind: 'object' | 'list'; schema: string } | { kind: 'any' } {
  const schema = schemaOf(name);
  if (schema.properties) return { kind: 'object', schema: name };
  const item = schema.items?.$ref;
  if (schema.type !== 'array' || item === undefined) return { kind: 'any' };
  const inItems = join(name, '..', item.replace(/\.json$/, ''));
  return schemaOf(inItems).properties ? { kind: 'list', schema: inItems } : { kind: 'any' };
}
