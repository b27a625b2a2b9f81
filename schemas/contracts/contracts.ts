import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { DEPRECATIONS, type Deprecations } from './deprecations.ts';
import { DomainError, type Fault } from './errors.ts';
import { toFaults } from './faults.ts';
import { judgedSchema } from './judged-schema.ts';
import { addKeywords, type TakeOut, type UrlFault } from './keywords.ts';
import { createTolerantReader, type Reading } from './tolerant-reader.ts';
import type { SchemaTypes } from './types.ts';

export type SchemaName = keyof SchemaTypes;

/** The members of a schema file that this code reads. */
export interface SchemaDocument {
  title: string;
  description: string;
  properties?: Record<string, { $ref?: string; type?: string; deprecated?: boolean }>;
}

export interface Contracts {
  /** Returns the value with its type, or throws REQUEST_INVALID with every fault; each `loc` starts with `place`. */
  check<Name extends SchemaName>(name: Name, value: unknown, place: 'body' | 'query'): SchemaTypes[Name];
  /** Reads a query string into the object that its schema describes: integers are read from text, defaults are filled in,
   * unknown parameters are left out. Throws REQUEST_INVALID with every fault. */
  checkQuery<Name extends SchemaName>(name: Name, query: string): SchemaTypes[Name];
  /** Reads a message of a device tolerantly: see createTolerantReader. Throws REQUEST_INVALID with every fault. */
  read<Name extends SchemaName>(name: Name, value: unknown): Reading<SchemaTypes[Name]>;
  /** Whether the value obeys the schema. It costs less than `check` and `faults`, because no faults are described. */
  accepts<Name extends SchemaName>(name: Name, value: unknown): value is SchemaTypes[Name];
  /** Returns every fault of the value; the list is empty when it obeys the schema. */
  faults(name: SchemaName, value: unknown, ...place: string[]): Fault[];
  /** Every schema by name: `rest/wifi-settings` is `schemas/rest/wifi-settings.json`. */
  readonly documents: ReadonlyMap<SchemaName, SchemaDocument>;
}

/** The folder of the schema files. */
export const SCHEMA_FOLDER = fileURLToPath(new URL('../', import.meta.url));
const NO_URL = { type: 'url_parsing', msg: 'Input should be an absolute URL' };
const anyUrl: UrlFault = (url) => (URL.canParse(url) ? undefined : NO_URL);
const BASE = 'https://lapel.invalid/schemas/';

/**
 * Reads all of `schemas/`, once, at start. Each schema is compiled when it is first used, because compiling all of them
 * takes a third of a second, half of a start. A test compiles every schema, and so finds one that is wrong in itself.
 *
 * @param urlFault the rule for the URLs of settings (op 2); by default every absolute URL is good
 * @param serves whether a deprecated property is still served (the table of deprecations); by default all are
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

// Compiled contracts by their rules. They never change and hold no state, so services in one process share them.
const compiled = new WeakMap<UrlFault, Map<string, Contracts>>();

const DEPRECATED = Object.keys(DEPRECATIONS) as (keyof typeof DEPRECATIONS)[];

/** Returns a function that finds a validator by name, and compiles it at its first use. */
function createValidators(
  documents: ReadonlyMap<SchemaName, SchemaDocument>,
  rules: { urlFault: UrlFault; takeOut?: TakeOut },
): (name: SchemaName) => ValidateFunction {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true, // the fault of a pattern is explained by the sentence beside the pattern
    strict: true,
    strictTypes: false,
    strictRequired: false,
    useDefaults: true,
    coerceTypes: false,
    // A test validates the schemas against JSON Schema itself; doing it here would be most of the time of a start.
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
  const lists = new Map<SchemaName, ReadonlySet<string>>();
  for (const [name, document] of documents) {
    const types = Object.entries(document.properties ?? {}).map(([property, { $ref, type }]) => [
      property,
      $ref ? (documents.get(referredSchema(name, $ref)) as { type?: string }).type : type,
    ]);
    const ofType = (wanted: string) =>
      new Set(types.filter(([, type]) => type === wanted).map(([property]) => property!));
    integers.set(name, ofType('integer'));
    lists.set(name, ofType('array'));
  }
  // The schemas of messages of devices, and the schemas that they refer to. Only these are read tolerantly.
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
  /** Schemas that read an empty query as an empty object, so that it need not be checked again. */
  const optional = new Set<SchemaName>();
  return {
    check,
    checkQuery<Name extends SchemaName>(name: Name, query: string): SchemaTypes[Name] {
      if (query === '' && optional.has(name)) return {} as SchemaTypes[Name];
      const read = check(
        name,
        readQuery(query, documents.get(name)!, { integers: integers.get(name)!, lists: lists.get(name)! }),
        'query',
      );
      if (query === '' && Object.keys(read as object).length === 0) optional.add(name);
      return read;
    },
    read: (name, value) => reader(name, value) as never,
    accepts: (name, value): value is never => validator(name)(value) as boolean,
    faults,
    documents,
  };
}

function readSchemas(): Map<SchemaName, SchemaDocument> {
  // Every schema is in a folder; beside the folders is the package.json of this package.
  const files = readdirSync(SCHEMA_FOLDER, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.json') && file !== 'package.json',
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

/**
 * Removes every property from a schema that is marked `deprecated` and is no longer served: it is then an unknown member.
 */
function withoutRemoved(schema: object, removed: ReadonlySet<string>): void {
  const { properties = {}, items } = schema as Pick<SchemaDocument, 'properties'> & { items?: object };
  for (const [name, property] of Object.entries(properties)) {
    if (property.deprecated && removed.has(name)) delete properties[name];
    else withoutRemoved(property, removed);
  }
  if (items) withoutRemoved(items, removed);
}

/**
 * The name of the schema that `reference` (such as `../common/limit.json`) means in the schema `from`; without `from`, in a
 * document of their folder.
 */
export function referredSchema(from: SchemaName | undefined, reference: string): SchemaName {
  const address = new URL(reference, from === undefined ? BASE : `${BASE}${from}.json`).href;
  return address.slice(BASE.length, -'.json'.length) as SchemaName;
}

/**
 * Reads a query string. A parameter that is given twice becomes a list, which the schema refuses unless the parameter is a
 * list.
 */
function readQuery(
  query: string,
  document: SchemaDocument,
  { integers, lists }: { integers: ReadonlySet<string>; lists: ReadonlySet<string> },
): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  if (query === '') return value;
  const parameters = new URLSearchParams(query);
  for (const name of Object.keys(document.properties ?? {})) {
    const given = parameters.getAll(name);
    if (given.length === 0) continue;
    value[name] = given.length > 1 || lists.has(name) ? given : integers.has(name) ? readInteger(given[0]!) : given[0];
  }
  return value;
}

/** Reads an integer. A text that is not an exact integer is returned as it is, for the schema to refuse. */
export function readInteger(text: string): number | string {
  return /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
