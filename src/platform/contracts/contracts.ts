import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { DomainError, type Fault } from '../../errors.ts';
import { DEPRECATIONS, type Deprecations } from '../../runtime/deprecations.ts';
import { toFaults } from './faults.ts';
import { judgedSchema } from './judged-schema.ts';
import { addKeywords, type TakeOut, type UrlFault } from './keywords.ts';
import { createTolerantReader, type Reading } from './tolerant-reader.ts';
import type { SchemaTypes } from './types.ts';

export type SchemaName = keyof SchemaTypes;

/** A schema file's content, as far as anybody looks at it. */
export interface SchemaDocument {
  title: string;
  description: string;
  properties?: Record<string, { $ref?: string; type?: string; deprecated?: boolean }>;
}

export interface Contracts {
  /** The value with its type, or REQUEST_INVALID with every fault; `loc` of each starts with `place`. */
  check<Name extends SchemaName>(name: Name, value: unknown, place: 'body' | 'query'): SchemaTypes[Name];
  /** A query string as the object that its schema describes: integers are read from text, defaults are filled in,
   * parameters that the schema does not know are left out. Throws REQUEST_INVALID with every fault. */
  checkQuery<Name extends SchemaName>(name: Name, query: string): SchemaTypes[Name];
  /** A message of a device, read tolerantly: see createTolerantReader. Throws REQUEST_INVALID with every fault. */
  read<Name extends SchemaName>(name: Name, value: unknown): Reading<SchemaTypes[Name]>;
  /** True when the value obeys the schema. The cheapest question. */
  accepts<Name extends SchemaName>(name: Name, value: unknown): value is SchemaTypes[Name];
  /** Every fault of the value; none when it obeys the schema. */
  faults(name: SchemaName, value: unknown, ...place: string[]): Fault[];
  /** Every schema by name: `rest/wifi-settings` is `schemas/rest/wifi-settings.json`. */
  readonly documents: ReadonlyMap<SchemaName, SchemaDocument>;
}

/** Where the schema files are. */
export const SCHEMA_FOLDER = fileURLToPath(new URL('../../../schemas/', import.meta.url));
const NO_URL = { type: 'url_parsing', msg: 'Input should be an absolute URL' };
const anyUrl: UrlFault = (url) => (URL.canParse(url) ? undefined : NO_URL);
const BASE = 'https://lapel.invalid/schemas/';

/**
 * Reads all of `schemas/`, once, at start. Each is compiled when it is first asked for: all of them take a third of a second,
 * which is half of a start. A schema that is wrong in itself is found by the tests, which compile every one.
 *
 * @param urlFault the rule for the URLs of settings (op 2); without one every absolute URL is good
 * @param serves whether a property that is deprecated is still there (the table of deprecations); all are unless told
 */
export function loadContracts({
  urlFault = anyUrl,
  serves = () => true,
}: {
  urlFault?: UrlFault;
  serves?: Deprecations['serves'];
} = {}): Contracts {
  const removed = DEPRECATED.filter((name) => !serves(name));
  const known = compiled.get(urlFault) ?? new Map<string, Contracts>();
  compiled.set(urlFault, known);
  const contracts = known.get(removed.join()) ?? compile(urlFault, new Set(removed));
  known.set(removed.join(), contracts);
  return contracts;
}

// They never change and hold no state, so services in one process share them.
const compiled = new WeakMap<UrlFault, Map<string, Contracts>>();

const DEPRECATED = Object.keys(DEPRECATIONS) as (keyof typeof DEPRECATIONS)[];

/** Validators by name, each compiled when it is first asked for. */
function createValidators(
  documents: ReadonlyMap<SchemaName, SchemaDocument>,
  rules: { urlFault: UrlFault; takeOut?: TakeOut },
): (name: SchemaName) => ValidateFunction {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true, // a fault of a pattern is told by the sentence beside it
    strict: true,
    strictTypes: false,
    strictRequired: false,
    useDefaults: true,
    coerceTypes: false,
    // Against the schema of schemas they are held by a test: it is most of what a start would cost.
    validateSchema: false,
    meta: false,
  });
  addKeywords(ajv, rules);
  for (const [name, document] of documents) ajv.addSchema({ ...judgedSchema(document), $id: `${BASE}${name}.json` });
  const validators = new Map<SchemaName, ValidateFunction>();
  return (name) => {
    const known = validators.get(name);
    if (known) return known;
    const made = ajv.getSchema(`${BASE}${name}.json`)!;
    validators.set(name, made);
    return made;
  };
}

function compile(urlFault: UrlFault, removed: ReadonlySet<string>): Contracts {
  const documents = readSchemas();
  for (const document of documents.values()) withoutRemoved(document, removed);
  const validator = createValidators(documents, { urlFault });
  const integers = new Map<SchemaName, ReadonlySet<string>>();
  for (const [name, document] of documents) {
    const types = Object.entries(document.properties ?? {}).map(([property, { $ref, type }]) => [
      property,
      $ref ? (documents.get(referredSchema(name, $ref)) as { type?: string }).type : type,
    ]);
    integers.set(name, new Set(types.filter(([, type]) => type === 'integer').map(([property]) => property!)));
  }
  // Of messages, and of what they refer to: nothing else is read tolerantly.
  const messages = new Map([...documents].filter(([name]) => /^(mqtt|common)\//.test(name)));
  const reader = createTolerantReader((takeOut) => createValidators(messages, { urlFault, takeOut }));
  const faults = (name: SchemaName, value: unknown, ...place: string[]): Fault[] => {
    const validate = validator(name);
    return validate(value) ? [] : toFaults(validate.errors ?? [], place);
  };
  const check: Contracts['check'] = (name, value, place) => {
    const validate = validator(name);
    if (validate(value)) return value as never;
    throw new DomainError('REQUEST_INVALID', { details: toFaults(validate.errors ?? [], [place]) });
  };
  return {
    check,
    checkQuery: (name, query) => check(name, readQuery(query, documents.get(name)!, integers.get(name)!), 'query'),
    read: (name, value) => reader(name, value) as never,
    accepts: (name, value): value is never => validator(name)(value) as boolean,
    faults,
    documents,
  };
}

function readSchemas(): Map<SchemaName, SchemaDocument> {
  const files = readdirSync(SCHEMA_FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.json'),
  );
  return new Map(
    files
      .map((file) => file.replaceAll('\\', '/'))
      .sort()
      .map((file) => [
        file.slice(0, -'.json'.length) as SchemaName,
        JSON.parse(readFileSync(`${SCHEMA_FOLDER}${file}`, 'utf8')),
      ]),
  );
}

/** Takes out of a schema every property that is marked `deprecated` and was removed: from then on nobody knows it. */
function withoutRemoved(schema: object, removed: ReadonlySet<string>): void {
  const { properties = {}, items } = schema as Pick<SchemaDocument, 'properties'> & { items?: object };
  for (const [name, property] of Object.entries(properties)) {
    if (property.deprecated && removed.has(name)) delete properties[name];
    else withoutRemoved(property, removed);
  }
  if (items) withoutRemoved(items, removed);
}

/** The name of the schema that a schema, or without one a document in their folder, refers to as `../common/limit.json`. */
export function referredSchema(from: SchemaName | undefined, reference: string): SchemaName {
  const address = new URL(reference, from === undefined ? BASE : `${BASE}${from}.json`).href;
  return address.slice(BASE.length, -'.json'.length) as SchemaName;
}

/** A parameter given twice becomes a list, which no schema of a query allows. */
function readQuery(query: string, document: SchemaDocument, integers: ReadonlySet<string>): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  if (query === '') return value;
  const parameters = new URLSearchParams(query);
  for (const name of Object.keys(document.properties ?? {})) {
    const given = parameters.getAll(name);
    if (given.length === 0) continue;
    value[name] = given.length > 1 ? given : integers.has(name) ? readInteger(given[0]!) : given[0];
  }
  return value;
}

/** The text itself when it is no integer that a double has exactly, for the schema to refuse. */
export function readInteger(text: string): number | string {
  return /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
