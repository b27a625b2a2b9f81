import type { ApiDocument, Json } from '@lapel/schemas/contracts/api-document';
import { type Html, html, prose } from '../../html.ts';
import { SLOTS } from '../../slots.ts';
import { type Frame, pageOf } from '../site/page.ts';
import { fieldTable } from './fields.ts';
import { schemaCases, schemaRows } from './schema-rows.ts';

interface Message extends Json {
  name: string;
  summary?: string;
  headers?: object;
  payload: { schema: object };
  examples?: { name?: string; payload: unknown }[];
  'x-data'?: Record<string, object>;
  'x-operations'?: Record<string, { description: string; parameters: object; result?: object }>;
}
interface Titled {
  title: string;
  description: string;
}
interface Channel {
  address?: string;
  description: string;
  messages: Record<string, { $ref: string }>;
}
interface Operation {
  action: 'send' | 'receive';
  channel: { $ref: string };
  bindings: { mqtt?: { qos: number } };
}
interface AsyncApi extends ApiDocument {
  info: { description: string };
  channels: Record<string, Channel>;
  operations: Record<string, Operation>;
}

/** Describes each operation of devices, its parameters and its result. */
function operationsOf(operations: NonNullable<Message['x-operations']>, document: AsyncApi): Html {
  const schemas = document.components['schemas'] as Record<string, Titled>;
  const part = (title: string, schema: object): Html => {
    const rows = schemaRows(schema, document);
    const name = (schema as { $ref: string }).$ref.split('/').at(-1) ?? '';
    return html`<h5>${title}</h5>
<p>${prose(schemas[name]?.description ?? '')}</p>${rows.length > 0 ? fieldTable(rows) : null}`;
  };
  return html`<article class="message" id="operations">
<h3><a href="#operations">Operations</a></h3>
${Object.entries(operations).map(
  ([name, { description, parameters, result }]) => html`<section id="operation-${name}">
<h4><a href="#operation-${name}"><code>${name}</code></a></h4>
<p>${prose(description)}</p>
<details><summary>Parameters${result ? ' and result' : null}</summary>
${part('Parameters', parameters)}
${result ? part('Result', result) : null}</details>
</section>
`,
)}</article>
`;
}

function messageOf(name: string, document: AsyncApi): Html {
  const message = document.components['messages']?.[name] as Message;
  const { schema } = message.payload;
  const operations = message['x-operations'];
  const schemaTitle =
    String((schema as { $ref: string }).$ref)
      .split('/')
      .at(-1) ?? '';
  const schemas = document.components['schemas'] as Record<string, Titled>;
  const { title, description } = schemas[schemaTitle]!;
  const cases = [
    ...(operations ? [] : schemaCases(schema, document)),
    ...Object.entries(message['x-data'] ?? {}).map(([when, data]) => ({ when, rows: schemaRows(data, document) })),
  ];
  return html`<article class="message" id="${name}">
<h3><a href="#${name}">${title}</a></h3>
<p>${message.summary === undefined ? null : html`<em>${prose(message.summary)}.</em> `}${prose(description)}</p>
${(message.examples ?? []).map(
  ({ name: title, payload }) =>
    html`<pre tabindex="0"><code>${
      title === undefined
        ? null
        : html`<span class="caption">${title}</span>
`
    }${JSON.stringify(payload, null, 2)}</code></pre>
`,
)}<details><summary>Fields</summary>
${fieldTable(schemaRows(schema, document))}
${cases.map(({ when, rows }) => html`<h4>${prose(when)}</h4>${fieldTable(rows)}`)}</details>
</article>
${operations ? operationsOf(operations, document) : null}`;
}

function channelOf(id: string, document: AsyncApi): Html {
  const { address, description, messages } = document.channels[id]!;
  const operation = Object.values(document.operations).find(({ channel }) => channel.$ref === `#/channels/${id}`);
  const direction = operation?.action === 'send' ? 'to the device' : 'from the device';
  const kind = address === undefined ? 'HTTPS' : `${direction}, QoS ${operation?.bindings.mqtt?.qos}`;
  return html`<section id="${id}">
<h2><a href="#${id}">${id}</a> <span class="kind">${kind}</span></h2>
${address === undefined ? null : html`<p><code class="topic">${address}</code></p>`}
<p>${prose(description)}</p>
${Object.values(messages).map(({ $ref }) => messageOf($ref.split('/').at(-1)!, document))}</section>
`;
}

/**
 * The page `/docs/events`: topics, webhooks and their messages with examples and fields, made from `/asyncapi.json`.
 */
export function eventsPage(document: ApiDocument, frame: Frame): string {
  const { info, channels } = document as AsyncApi;
  const body = html`<h1>Devices and webhooks</h1>
<p class="lead">${prose(info.description)}</p>
<p>${SLOTS.servers}</p>
${Object.keys(channels).map((id) => channelOf(id, document as AsyncApi))}`;
  const headings = Object.keys(channels).map((id) => ({ depth: 2, text: id, anchor: id }));
  const head = html`<link rel="stylesheet" href="${SLOTS.file('reference.css')}">`;
  return pageOf(frame, { name: 'events', title: 'Devices and webhooks', headings, head, body });
}
