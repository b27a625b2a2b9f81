import { ERRORS } from '@lapel/schemas/contracts/errors';
import type { ApiDocument, Json } from '@lapel/schemas/contracts/api-document';
import type { Contracts } from '@lapel/schemas/contracts/contracts';
import type { Deprecations } from '@lapel/schemas/contracts/deprecations';
import { createRemembered } from '../../../runtime/remembered.ts';
import { operationsOf } from './reference/operation.ts';
import { samplesOf } from './reference/samples.ts';

interface Parts {
  contracts: Pick<Contracts, 'documents'>;
  deprecations: Pick<Deprecations, 'serves'>;
  /** The time zone of local date-times in the bodies of the REST API. */
  timeZone: string;
  /** The URL of the API that callers use (`{base_url}`), without a slash at its end. */
  publicUrl(): string;
  /** The URLs that devices connect to: an `mqtt`, `mqtts`, `ws` or `wss` URL for each listener. */
  mqttUrls(): string[];
}

export type Documents = ReturnType<typeof createDocuments>;

const SERVERS: Record<string, string> = {
  mqtt: 'MQTT over TCP',
  mqtts: 'MQTT over TLS',
  ws: 'MQTT over WebSocket',
  wss: 'MQTT over WebSocket and TLS',
};

/** The messages that only answer a webhook, or only describe the form of all of them. */
const NO_WEBHOOKS = ['envelope', 'uploadUrlAnswer', 'uploadUrlsAnswer'];
/** The answers of a receiver to the webhooks that ask for something. */
const ANSWERS: Record<string, string> = { uploadUrlRequest: 'uploadUrlAnswer', uploadUrlsRequest: 'uploadUrlsAnswer' };

interface Message {
  summary?: string;
  payload: { schema: { $ref: string } };
  examples?: { payload: unknown }[];
}

const contentOf = ({ payload, examples }: Message): Json => ({
  'application/json': {
    schema: payload.schema,
    ...(examples?.[0] && { example: examples[0].payload }),
  },
});

/**
 * The section `webhooks` of OpenAPI 3.1, made from the messages of the AsyncAPI document, so that both say the same.
 */
function webhooksOf(asyncApi: ApiDocument): Json {
  const messages = asyncApi.components['messages'] as Record<string, Message>;
  const channels = asyncApi['channels'] as Record<string, { messages: Record<string, unknown> }>;
  const { properties, required } = asyncApi.components['schemas']!['WebhookHeaders'] as {
    properties: Record<string, { description?: string }>;
    required: string[];
  };
  const parameters = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'header',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
  const names = ['webhooks', 'uploadUrls'].flatMap((channel) => Object.keys(channels[channel]!.messages));
  const webhook = (name: string): [string, Json] => {
    const message = messages[name]!;
    const answer = ANSWERS[name];
    const taken = {
      '2XX': { description: 'The webhook is taken. Any other answer, or none, is followed by further attempts.' },
    };
    const answered = answer && { '200': { description: 'The answer.', content: contentOf(messages[answer]!) } };
    const post = {
      operationId: `on${name[0]!.toUpperCase()}${name.slice(1)}`,
      tags: ['Webhooks'],
      summary: message.summary ?? 'Sent to the URL of its setting',
      description: 'Verify the signature of the raw body before you believe it.',
      security: [],
      parameters,
      requestBody: { required: true, content: contentOf(message) },
      responses: answered || taken,
    };
    return [name, { post }];
  };
  return Object.fromEntries(names.filter((name) => !NO_WEBHOOKS.includes(name)).map(webhook));
}

/** The two documents of the interface as the service offers them, with its addresses. */
export function createDocuments({ contracts, deprecations, timeZone, publicUrl, mqttUrls }: Parts) {
  const { serves } = deprecations;

  async function read(file: 'openapi.yaml' | 'asyncapi.yaml'): Promise<ApiDocument> {
    const { readApiDocument } = await import('@lapel/schemas/contracts/api-document');
    return readApiDocument(file, { schemas: contracts.documents, serves });
  }

  /** Puts the codes, the time zone and the calls of each operation into the document, which the code knows. */
  function complete(document: ApiDocument): void {
    const { ErrorCode } = document.components['headers'] as Record<string, { schema: object }>;
    ErrorCode!.schema = { type: 'string', enum: Object.keys(ERRORS) };
    const paths = document['paths'] as Record<string, Record<string, Json>>;
    for (const operation of operationsOf(document)) {
      const { path, method } = operation;
      paths[path]![method.toLowerCase()]!['x-codeSamples'] = samplesOf(operation, publicUrl());
    }
  }

  async function openApi(): Promise<ApiDocument> {
    const [document, messages] = await Promise.all([read('openapi.yaml'), read('asyncapi.yaml')]);
    const { applicationToken } = document.components['securitySchemes'] as {
      applicationToken: { flows: { clientCredentials: { tokenUrl: string } } };
    };
    const flow = applicationToken.flows.clientCredentials;
    flow.tokenUrl = `${publicUrl()}${flow.tokenUrl}`;
    const {
      openapi,
      info,
      components,
      servers: _,
      ...rest
    } = document as ApiDocument & { info: { description: string } };
    const description = `${info.description}\n\nLocal date-times of this service are in the time zone \`${timeZone}\`.`;
    const parts = { ...rest, webhooks: webhooksOf(messages) };
    const { schemas: own, ...otherComponents } = components;
    const schemas = neededBy([parts, otherComponents], { ...messages.components['schemas'], ...own });
    const made = {
      openapi,
      info: { ...info, description, 'x-time-zone': timeZone },
      servers: [{ url: publicUrl(), description: 'This service' }],
      ...parts,
      components: { ...otherComponents, schemas },
    };
    complete(made);
    return made;
  }

  async function asyncApi(): Promise<ApiDocument> {
    const document = await read('asyncapi.yaml');
    const { mqtt } = document.servers as { mqtt: object };
    const servers = mqttUrls().map((url) => {
      const { host, pathname, protocol } = new URL(url);
      const name = protocol.slice(0, -1);
      const path = pathname.length > 1 ? { pathname } : {};
      return [name, { ...mqtt, host, ...path, protocol: name, description: SERVERS[name] }] as const;
    });
    const references = servers.map(([name]) => ({ $ref: `#/servers/${name}` }));
    for (const channel of Object.values(document['channels'] as Record<string, { servers?: object }>)) {
      if (channel.servers) channel.servers = references;
    }
    return { ...document, servers: Object.fromEntries(servers) };
  }

  const remembered = createRemembered({ keptMicros: Number.POSITIVE_INFINITY });
  // Each is made once, because every page needs both.
  return {
    openApi: (): Promise<ApiDocument> => remembered('openapi', openApi),
    asyncApi: (): Promise<ApiDocument> => remembered('asyncapi', asyncApi),
  };
}

/** Those of some schemas that parts of a document refer to, and those that these refer to. */
function neededBy(parts: unknown, schemas: Json): Json {
  const needed = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      const name = key === '$ref' ? /^#\/components\/schemas\/(.+)$/.exec(String(value))?.[1] : undefined;
      if (name === undefined) visit(value);
      else if (!needed.has(name)) {
        needed.add(name);
        visit(schemas[name]);
      }
    }
  };
  visit(parts);
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([name]) => needed.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
