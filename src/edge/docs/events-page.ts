import type { ApiDocument, Json } from '../../platform/contracts/api-document.ts';
import { type Html, html, prose } from './html.ts';
import { pageOf } from './page.ts';
import { type SchemaRow, schemaCases, schemaRows } from './schema-rows.ts';

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
  servers: Record<string, { host: string; protocol: string; description: string }>;
  channels: Record<string, Channel>;
  operations: Record<string, Operation>;
}

const table = (rows: SchemaRow[]): Html => html`<div class="scroll"><table class="fields">
<thead><tr><th>Field</th><th>Type</th><th></th></tr></thead>
<tbody>${rows.map(
  ({ path, type, required, deprecated, description, limits }) => html`<tr>
<td><code>${path}</code>${required ? html` <span class="must">required</span>` : null}${deprecated ? html` <span class="old">deprecated</span>` : null}</td>
<td><code>${type}</code></td><td>${prose(description)}${limits === '' ? null : html` <span class="limits">${limits}</span>`}</td></tr>
`,
)}</tbody></table></div>`;

/** Describes each operation of devices, its parameters and its result. */
function operationsOf(operations: NonNullable<Message['x-operations']>, document: AsyncApi): Html {
  const schemas = document.components['schemas'] as Record<string, Titled>;
  const part = (title: string, schema: object): Html => {
    const rows = schemaRows(schema, document);
    const name = (schema as { $ref: string }).$ref.split('/').at(-1) ?? '';
    return html`<h5>${title}</h5>
<p>${prose(schemas[name]?.description ?? '')}</p>${rows.length > 0 ? table(rows) : null}`;
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
    html`<pre><code>${
      title === undefined
        ? null
        : html`<span class="caption">${title}</span>
`
    }${JSON.stringify(payload, null, 2)}</code></pre>
`,
)}<details><summary>Fields</summary>
${table(schemaRows(schema, document))}
${cases.map(({ when, rows }) => html`<h4>${prose(when)}</h4>${table(rows)}`)}</details>
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
export function eventsPage(document: ApiDocument): string {
  const { info, servers, channels } = document as AsyncApi;
  const body = html`<main class="wide text">
<h1>Devices and webhooks</h1>
<p class="lead">${prose(info.description)}</p>
<p>${Object.values(servers).map(
    ({ protocol, host, description }) => html`<code>${protocol}://${host}</code> ${description}. `,
  )}</p>
<nav class="contents" aria-label="Contents"><ul>${Object.keys(channels).map((id) => html`<li><a href="#${id}">${id}</a></li>`)}</ul></nav>
${Object.keys(channels).map((id) => channelOf(id, document as AsyncApi))}</main>`;
  return pageOf({ path: 'docs/events', title: 'Lapel: devices and webhooks', body });
}
