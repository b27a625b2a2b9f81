import { type ApiDocument, type Json, readApiDocument } from '@lapel/schemas/contracts/api-document';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import type { Deprecations } from '@lapel/schemas/contracts/deprecations';
import { ERRORS } from '@lapel/schemas/contracts/errors';
import { SLOTS } from '../slots.ts';
import { neededComponents } from './needed-components.ts';
import { operationsOf } from './reference/operation.ts';
import { samplesOf } from './reference/samples.ts';

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

/** Puts the codes and the calls of each operation into the document, which the code knows. */
function complete(document: ApiDocument): void {
  const { ErrorCode } = document.components['headers'] as Record<string, { schema: object }>;
  ErrorCode!.schema = { type: 'string', enum: Object.keys(ERRORS) };
  const paths = document['paths'] as Record<string, Record<string, Json>>;
  for (const operation of operationsOf(document)) {
    const { path, method } = operation;
    paths[path]![method.toLowerCase()]!['x-codeSamples'] = samplesOf(operation);
  }
}

function openApiOf(document: ApiDocument, asyncApi: ApiDocument): ApiDocument {
  const { applicationToken } = document.components['securitySchemes'] as {
    applicationToken: { flows: { clientCredentials: { tokenUrl: string } } };
  };
  const flow = applicationToken.flows.clientCredentials;
  flow.tokenUrl = `${SLOTS.publicUrl}${flow.tokenUrl}`;
  const {
    openapi,
    info,
    components,
    servers: _,
    ...rest
  } = document as ApiDocument & { info: { description: string } };
  const description = `${info.description}\n\nLocal date-times of this service are in the time zone \`${SLOTS.timeZone}\`.`;
  const parts = { ...rest, webhooks: webhooksOf(asyncApi) };
  const all = { ...components, schemas: { ...asyncApi.components['schemas'], ...components['schemas'] } };
  const made = {
    openapi,
    info: { ...info, description, 'x-time-zone': SLOTS.timeZone },
    servers: [{ url: SLOTS.publicUrl, description: 'This service' }],
    ...parts,
    components: neededComponents(parts, all),
  };
  complete(made);
  return made;
}

/** The two documents of the interface, with slots for the addresses of a service. */
export interface Documents {
  openApi: ApiDocument;
  asyncApi: ApiDocument;
}

/** Makes the documents of the interface with the deprecated parts that are still served. */
export async function makeDocuments({ serves }: Pick<Deprecations, 'serves'>): Promise<Documents> {
  const { documents: schemas } = loadContracts({ serves });
  const [document, asyncApi] = await Promise.all([
    readApiDocument('openapi.yaml', { schemas, serves }),
    readApiDocument('asyncapi.yaml', { schemas, serves }),
  ]);
  return { openApi: openApiOf(document, asyncApi), asyncApi };
}
