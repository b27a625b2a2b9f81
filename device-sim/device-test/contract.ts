import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

/** The messages of devices that have a schema. */
export type MessageKind = 'acks' | 'status' | 'events' | 'requests';

/** The documents of the MQTT protocol, as checks of messages. */
export interface Contract {
  /** The names of all operations, except `cancel`. */
  readonly operations: readonly string[];
  /** The faults of a message of a device, each in a line; empty if it is as its schema says. */
  faultsOf(kind: MessageKind, body: unknown): string[];
  /** The same for the result of an operation. */
  resultFaults(operation: string, result: unknown): string[];
  /** The same for a command of the service, so that a test sends no wrong command by mistake. */
  commandFaults(command: unknown): string[];
}

const SCHEMAS = fileURLToPath(new URL('../../schemas/', import.meta.url));
const BASE = 'https://lapel.invalid/schemas/';
const KINDS: Readonly<Record<MessageKind, string>> = {
  acks: 'mqtt/ack',
  status: 'mqtt/status',
  events: 'mqtt/event',
  requests: 'mqtt/request',
};
/** The most faults of one message that are listed. */
const MOST_FAULTS = 5;
/** The service ignores unknown members, so they are no fault. The fault of an `if` only repeats those of its branches. */
const NO_FAULTS: ReadonlySet<string> = new Set(['additionalProperties', 'if']);

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isWithin(member, levels - 1));
}

/** The keywords of the schemas that JSON Schema does not have. */
function addKeywords(ajv: Ajv2020): void {
  ajv.addVocabulary(['tsType', 'x-pattern-message', 'settingUrl']);
  ajv.addFormat('imei', true);
  ajv.addFormat('language-tag', true);
  const size = { type: 'object', schemaType: 'number' } as const;
  const fits = (most: number, text: string): boolean => Buffer.byteLength(text) <= most;
  ajv.addKeyword({ keyword: 'maxUtf8Bytes', type: 'string', schemaType: 'number', validate: fits });
  const fills = (least: number, text: string): boolean => Buffer.byteLength(text) >= least;
  ajv.addKeyword({ keyword: 'minUtf8Bytes', type: 'string', schemaType: 'number', validate: fills });
  ajv.addKeyword({ keyword: 'maxDepth', ...size, validate: (most: number, value: object) => isWithin(value, most) });
  ajv.addKeyword({
    keyword: 'maxJsonBytes',
    ...size,
    validate: (most: number, value: object) => fits(most, JSON.stringify(value)),
  });
}

const sentence = ({ instancePath, message = 'is wrong', keyword, params, parentSchema }: ErrorObject): string => {
  const place = instancePath === '' ? 'the message' : instancePath.slice(1).replaceAll('/', '.');
  const pattern = (parentSchema as { 'x-pattern-message'?: string })['x-pattern-message'];
  if (keyword === 'maxUtf8Bytes')
    return `${place}: must have at most ${(parentSchema as { maxUtf8Bytes?: number }).maxUtf8Bytes} bytes`;
  const words = keyword === 'enum' ? `: ${(params['allowedValues'] as unknown[]).join(', ')}` : '';
  return `${place}: ${keyword === 'pattern' && pattern ? pattern : message}${words}`;
};

interface OperationDocument {
  readonly result?: { readonly $ref: string };
}

/** The documented operations with the schemas of their results, from asyncapi.yaml. */
function readOperations(): Map<string, string> {
  const { components } = parse(readFileSync(`${SCHEMAS}asyncapi.yaml`, 'utf8')) as {
    components: { messages: { command: { 'x-operations': Record<string, OperationDocument> } } };
  };
  const documented = Object.entries(components.messages.command['x-operations']);
  return new Map(
    documented.flatMap(([name, { result }]) => (result ? [[name, result.$ref.replace(/^\.\/|\.json$/g, '')]] : [])),
  );
}

function read(): Contract {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false });
  addKeywords(ajv);
  const files = ['mqtt', 'mqtt/results', 'common'].flatMap((folder) =>
    readdirSync(`${SCHEMAS}${folder}`)
      .filter((file) => file.endsWith('.json'))
      .map((file) => `${folder}/${file}`),
  );
  for (const file of files)
    ajv.addSchema({ ...(JSON.parse(readFileSync(SCHEMAS + file, 'utf8')) as object), $id: BASE + file });
  const operations = readOperations();

  function faults(schema: string, value: unknown): string[] {
    const validate = ajv.getSchema(`${BASE}${schema}.json`);
    if (!validate) throw new Error(`there is no schema ${schema}`);
    if (validate(value)) return [];
    const found = (validate.errors ?? []).filter(({ keyword }) => !NO_FAULTS.has(keyword));
    return found.slice(0, MOST_FAULTS).map(sentence);
  }

  /** The service takes an event whatever its time is, so the schema permits all; a device must send a right one. */
  const timeFaults = (event: unknown): string[] =>
    faults('common/device-time', (event as { occurredAt?: unknown } | null)?.occurredAt).map((text) =>
      text.replace(/^the message/, 'occurredAt'),
    );

  return {
    operations: [...operations.keys()],
    faultsOf: (kind, body) => [...faults(KINDS[kind], body), ...(kind === 'events' ? timeFaults(body) : [])],
    resultFaults: (operation, result) => {
      const schema = operations.get(operation);
      return schema === undefined || schema === 'mqtt/results/none' ? [] : faults(schema, result);
    },
    commandFaults: (command) => faults('mqtt/command', command),
  };
}

let contract: Contract | undefined;

/** The contract of this installation. It is read once: to parse the documents and to compile the schemas takes 0.3 s. */
export function readContract(): Contract {
  contract ??= read();
  return contract;
}
