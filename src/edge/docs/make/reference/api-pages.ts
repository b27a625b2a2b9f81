import type { ApiDocument } from '@lapel/schemas/contracts/api-document';
import { type Html, html, prose } from '../../html.ts';
import { type Frame, pageOf } from '../site/page.ts';
import { pageOfTag } from '../site/places.ts';
import { fieldsOf, fieldTable } from './fields.ts';
import { type Answer, type Operation, operationsOf, target } from './operation.ts';
import { samplesOf } from './samples.ts';
import { schemaRows } from './schema-rows.ts';
import { tokenForm, tryForm } from './try-form.ts';

interface Tag {
  name: string;
  description: string;
}
const tagsOf = (document: ApiDocument): readonly Tag[] => document['tags'] as Tag[];
const baseOf = ({ servers }: ApiDocument): string => (servers as { url: string }[])[0]!.url;

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** The samples of an operation, of which a radio button shows one. Without styles all are shown. */
function samples(operation: Operation, document: ApiDocument): Html {
  const all = samplesOf(operation, baseOf(document));
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
function answers({ answers: all }: Operation, document: ApiDocument, frame: Frame): Html {
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
${schema ? fieldsOf('Fields of the answer', schema, document) : null}`,
)}
<p class="note">Also: ${shared.map(({ status, shared: name }) => html`<a href="${frame.links.page('api')}#${name!}">${status}</a> `)}</p>`;
}

function operation(one: Operation, document: ApiDocument, frame: Frame): Html {
  const { id, method, path, summary, description, scope, body } = one;
  return html`<article class="operation" id="${id}">
<div class="told">
<h2><a href="#${id}">${summary}</a></h2>
<p class="call"><strong>${method}</strong> <code>${path}</code></p>
<p>${prose(description)}</p>
<p class="note">Operation <code>${id}</code>. ${scope === null ? 'Needs no token.' : html`Scope <code>${scope}</code>.`}</p>
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
${samples(one, document)}
${frame.links.isFolder ? null : tryForm(one)}
${answers(one, document, frame)}
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
${frame.links.isFolder ? null : tokenForm(document)}
${operations.map((one) => operation(one, document, frame))}`;
  return pageOf(frame, {
    name: pageOfTag(tag),
    title: tag,
    headings,
    head: html`${referenceSheet(frame)}${forms(frame)}`,
    body,
  });
}

/** The files of the forms that make calls: a folder has no service to call. */
const forms = ({ links }: Frame): Html | null =>
  links.isFolder
    ? null
    : html`
<link rel="stylesheet" href="${links.file('try.css')}">
<script src="${links.file('try.js')}" defer></script>`;
const referenceSheet = ({ links }: Frame): Html => html`<link rel="stylesheet" href="${links.file('reference.css')}">`;

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

function webhooks(document: ApiDocument, frame: Frame): Html {
  interface Webhook {
    post: { summary: string; requestBody: { content: Record<string, { schema: { $ref: string } }> } };
  }
  const all = Object.entries(document['webhooks'] as Record<string, Webhook>);
  const row = ([name, { post }]: (typeof all)[number]): Html => {
    const { schema } = Object.values(post.requestBody.content)[0]!;
    const { title = '', description = '' } = target(document, schema) as { title?: string; description?: string };
    return html`<tr><td><a href="${frame.links.page('events')}#${name}">${title}</a></td><td>${prose(post.summary)}</td><td>${prose(description)}</td></tr>\n`;
  };
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th>Webhook</th><th>When</th><th>What it says</th></tr></thead>
<tbody>${all.map(row)}</tbody></table></div>`;
}

/** The page `/docs/api`: how to call the API, all operations, the webhooks, and the answers that operations share. */
export function apiPage(document: ApiDocument, frame: Frame): string {
  const { links } = frame;
  const operations = operationsOf(document);
  const { description } = document['info'] as { description: string };
  const rows = (tag: string): Html[] =>
    operations
      .filter((one) => one.tag === tag)
      .map(
        ({ id, method, path, summary }) =>
          html`<tr><td><a href="${links.page(pageOfTag(tag))}#${id}">${summary}</a></td><td><strong>${method}</strong> <code>${path}</code></td></tr>\n`,
      );
  const body = html`<h1>The management API</h1>
<p>${prose(description)}</p>
<h2 id="calls"><a href="#calls">How to call it</a></h2>
<p>The examples of all calls use these lines. <a href="${links.page('tutorial')}">The first five minutes</a> says where the secret comes
from.</p>
<pre tabindex="0"><code>TOKEN=$(curl -s -u "patrol:$SECRET" -d grant_type=client_credentials \\
  -d 'scope=svc:application:read svc:application:write svc:device:read svc:device:write' \\
  ${baseOf(document)}/api/v1/authenticate | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')</code></pre>
<pre tabindex="0"><code>import { createLapelClient } from '@lapel/client';

// \`secret\` is the secret of the application.
const lapel = createLapelClient({ baseUrl: '${baseOf(document)}', applicationId: 'patrol', secret });</code></pre>
${tagsOf(document).map(
  ({
    name,
    description: about,
  }) => html`<h2 id="${pageOfTag(name)}"><a href="${links.page(pageOfTag(name))}">${name}</a></h2>
<p>${prose(about)}</p>
<div class="scroll" tabindex="0"><table class="calls"><tbody>${rows(name)}</tbody></table></div>
`,
)}
<h2 id="webhooks"><a href="#webhooks">Webhooks of your application</a></h2>
<p>The service sends these to your URLs. <a href="${links.page('verify-webhooks')}">Verify each</a> before you believe it.</p>
${webhooks(document, frame)}
<h2 id="answers"><a href="#answers">Answers that many calls share</a></h2>
<p>The header <code>Lapel-Error-Code</code> has one of <a href="${links.page('errors')}">these codes</a>.</p>
${sharedAnswers(operations, document)}`;
  const headings = [
    { depth: 2, text: 'How to call it', anchor: 'calls' },
    ...tagsOf(document).map(({ name }) => ({ depth: 2, text: name, anchor: pageOfTag(name) })),
    { depth: 2, text: 'Webhooks of your application', anchor: 'webhooks' },
    { depth: 2, text: 'Answers that many calls share', anchor: 'answers' },
  ];
  return pageOf(frame, { name: 'api', title: 'The management API', headings, head: referenceSheet(frame), body });
}
