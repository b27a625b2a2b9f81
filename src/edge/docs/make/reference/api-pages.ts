import type { ApiDocument } from '@lapel/schemas/contracts/api-document';
import { type Html, html, prose } from '../../html.ts';
import { forService, SLOTS } from '../../slots.ts';
import { type Frame, pageOf } from '../site/page.ts';
import { pageOfTag } from '../site/places.ts';
import { ANSWER_FIELDS, fieldsOf, fieldTable } from './fields.ts';
import { type Answer, type Operation, operationsOf, target } from './operation.ts';
import { samplesOf } from './samples.ts';
import { schemaRows } from './schema-rows.ts';
import { tokenForm, tryForm } from './try-form.ts';

interface Tag {
  name: string;
  description: string;
}
const tagsOf = (document: ApiDocument): readonly Tag[] => document['tags'] as Tag[];

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** The samples of an operation, of which a radio button shows one. Without styles all are shown. */
function samples(operation: Operation): Html {
  const all = samplesOf(operation);
  const radio = ({ label }: { label: string }, index: number): Html => {
    const id = `${operation.id}-sample-${index}`;
    const checked = index === 0 ? html` checked` : null;
    return html`<input type="radio" name="${operation.id}-sample" id="${id}" data-sample="${label}"${checked}><label for="${id}">${label}</label>`;
  };
  return html`<div class="samples">
<div class="choice">${all.map(radio)}</div>
${all.map(({ label, source }) => html`<pre tabindex="0" data-of="${label}"><code>${source}</code></pre>`)}
</div>`;
}

function parameters({ parameters: all }: Operation, document: ApiDocument): Html | null {
  const properties = Object.fromEntries(
    all.map(({ name, description, schema }) => [
      name,
      { ...schema, ...(description !== undefined && { description }) },
    ]),
  );
  const required = all.filter((one) => one.required).map(({ name }) => name);
  if (all.length === 0) return null;
  const places = new Map(all.map((one) => [one.name, one.in]));
  // Rows of the members of a parameter do not exist: parameters are plain values.
  const rows = schemaRows({ properties, required }, document).map((row) => ({
    ...row,
    type: `${row.type} in ${places.get(row.path) ?? ''}`,
  }));
  return html`<h3>Parameters</h3>${fieldTable(rows)}`;
}

/** The good answers of an operation, and those errors that it does not share with others. */
function answers({ answers: all }: Operation, document: ApiDocument): Html {
  const own = all.filter(({ shared }) => shared === undefined);
  const shared = all.filter((one) => one.shared !== undefined);
  return html`<h3>Answers</h3>
${own.map(
  ({
    status,
    description,
    headers,
    schema,
    examples,
  }) => html`<p><strong class="status">${status}</strong> ${prose(description)}</p>
${Object.keys(headers).length > 1 ? html`<p class="note">Headers: ${Object.keys(headers).map((name) => html`<code>${name}</code> `)}</p>` : null}
${examples.length > 0 ? html`<pre tabindex="0"><code>${json(examples[0])}</code></pre>` : null}
${schema ? fieldsOf(ANSWER_FIELDS, schema, document) : null}`,
)}
<p class="note">Also: ${shared.map(({ status, shared: name }) => html`<a href="${SLOTS.page('api')}#${name!}">${status}</a> `)}</p>`;
}

function needed(scope: string | null): Html | string {
  if (scope === null) return 'Needs no token.';
  return scope === '' ? 'Any token will do.' : html`Scope <code>${scope}</code>.`;
}

function operation(one: Operation, document: ApiDocument): Html {
  const { id, method, path, summary, description, scope, body } = one;
  return html`<article class="operation" id="${id}">
<div class="told">
<h2><a href="#${id}">${summary}</a></h2>
<p class="call"><strong>${method}</strong> <code>${path}</code></p>
<p>${prose(description)}</p>
<p class="note">Operation <code>${id}</code>. ${needed(scope)}</p>
${parameters(one, document)}
${
  body
    ? html`<h3>Body${body.required ? null : html` <span class="must">may be left out</span>`}</h3>
${body.example === undefined ? null : html`<pre tabindex="0"><code>${json(body.example)}</code></pre>`}
${fieldsOf('Fields of the body', body.schema, document)}`
    : null
}
</div>
<div class="shown">
${samples(one)}
${ofService(tryForm(one))}
${answers(one, document)}
</div>
</article>
`;
}

/** The page of a tag: all of its operations. */
export function tagPage(document: ApiDocument, tag: string, frame: Frame): string {
  const operations = operationsOf(document).filter((one) => one.tag === tag);
  const { description } = tagsOf(document).find(({ name }) => name === tag)!;
  const headings = operations.map(({ id, summary }) => ({ depth: 2, text: summary, anchor: id }));
  const body = html`<h1>${tag}</h1>
<p class="lead">${prose(description)}</p>
<p class="note">This part as OpenAPI: <a href="${SLOTS.file(`${pageOfTag(tag)}.json`)}">${pageOfTag(tag)}.json</a>.</p>
${ofService(tokenForm(document))}
${operations.map((one) => operation(one, document))}`;
  return pageOf(frame, {
    name: pageOfTag(tag),
    title: tag,
    headings,
    head: html`${SHEET}${FORMS}`,
    body,
  });
}

/** A part of a page that makes calls: a folder has no service to call. */
const ofService = (part: Html | null): Html | null => (part === null ? null : { html: forService(part.html) });

/** The files of the forms that make calls. */
const FORMS = ofService(html`
<link rel="stylesheet" href="${SLOTS.file('try.css')}">
<script src="${SLOTS.file('try.js')}" defer></script>`);
const SHEET = html`<link rel="stylesheet" href="${SLOTS.file('reference.css')}">`;

/** The answers that operations share, each once. */
function sharedAnswers(operations: readonly Operation[], document: ApiDocument): Html[] {
  const all = new Map<string, Answer>();
  for (const { answers: given } of operations)
    for (const answer of given) if (answer.shared !== undefined) all.set(answer.shared, answer);
  return [...all]
    .sort(([, a], [, b]) => Number(a.status) - Number(b.status))
    .map(
      ([name, { status, description, headers, schema, examples }]) => html`<section id="${name}">
<h3><a href="#${name}">${status} ${name}</a></h3>
<p>${prose(description)}</p>
<p class="note">Headers: ${Object.keys(headers).map((header) => html`<code>${header}</code> `)}</p>
${examples.length > 0 ? html`<pre tabindex="0"><code>${examples.map(json).join('\n')}</code></pre>` : null}
${schema ? fieldsOf('Fields', schema, document) : null}</section>
`,
    );
}

function webhooks(document: ApiDocument): Html {
  interface Webhook {
    post: { summary: string; requestBody: { content: Record<string, { schema: { $ref: string } }> } };
  }
  const all = Object.entries(document['webhooks'] as Record<string, Webhook>);
  const row = ([name, { post }]: (typeof all)[number]): Html => {
    const { schema } = Object.values(post.requestBody.content)[0]!;
    const { title = '', description = '' } = target(document, schema) as { title?: string; description?: string };
    return html`<tr><td><a href="${SLOTS.page('events')}#${name}">${title}</a></td><td>${prose(post.summary)}</td><td>${prose(description)}</td></tr>\n`;
  };
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th>Webhook</th><th>When</th><th>What it says</th></tr></thead>
<tbody>${all.map(row)}</tbody></table></div>`;
}

/** The page `/docs/api`: how to call the API, all operations, the webhooks, and the answers that operations share. */
export function apiPage(document: ApiDocument, frame: Frame): string {
  const operations = operationsOf(document);
  const { description } = document['info'] as { description: string };
  const rows = (tag: string): Html[] =>
    operations
      .filter((one) => one.tag === tag)
      .map(
        ({ id, method, path, summary }) =>
          html`<tr><td><a href="${SLOTS.page(pageOfTag(tag))}#${id}">${summary}</a></td><td><strong>${method}</strong> <code>${path}</code></td></tr>\n`,
      );
  const body = html`<h1>The management API</h1>
<p>${prose(description)}</p>
<h2 id="calls"><a href="#calls">How to call it</a></h2>
<p>The examples of all calls use these lines. <a href="${SLOTS.page('tutorial')}">The first five minutes</a> says where the secret comes
from.</p>
<pre tabindex="0"><code>TOKEN=$(curl -s -u "patrol:$SECRET" -d grant_type=client_credentials \\
  -d 'scope=svc:application:read svc:application:write svc:device:read svc:device:write' \\
  ${SLOTS.publicUrl}/api/v1/authenticate | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')</code></pre>
<pre tabindex="0"><code>import { createLapelClient } from '@lapel/client';

// \`secret\` is the secret of the application.
const lapel = createLapelClient({ baseUrl: '${SLOTS.publicUrl}', applicationId: 'patrol', secret });</code></pre>
${tagsOf(document).map(
  ({
    name,
    description: about,
  }) => html`<h2 id="${pageOfTag(name)}"><a href="${SLOTS.page(pageOfTag(name))}">${name}</a></h2>
<p>${prose(about)}</p>
<div class="scroll" tabindex="0"><table class="calls"><tbody>${rows(name)}</tbody></table></div>
`,
)}
<h2 id="webhooks"><a href="#webhooks">Webhooks of your application</a></h2>
<p>The service sends these to your URLs. <a href="${SLOTS.page('verify-webhooks')}">Verify each</a> before you believe it.</p>
${webhooks(document)}
<h2 id="answers"><a href="#answers">Answers that many calls share</a></h2>
<p>The header <code>Lapel-Error-Code</code> has one of <a href="${SLOTS.page('errors')}">these codes</a>.</p>
${sharedAnswers(operations, document)}`;
  const headings = [
    { depth: 2, text: 'How to call it', anchor: 'calls' },
    ...tagsOf(document).map(({ name }) => ({ depth: 2, text: name, anchor: pageOfTag(name) })),
    { depth: 2, text: 'Webhooks of your application', anchor: 'webhooks' },
    { depth: 2, text: 'Answers that many calls share', anchor: 'answers' },
  ];
  return pageOf(frame, { name: 'api', title: 'The management API', headings, head: SHEET, body });
}
