import type { ApiDocument } from '@lapel/schemas/contracts/api-document';
import { type Html, html, prose } from '../../html.ts';
import { type SchemaRow, schemaCases, schemaRows } from './schema-rows.ts';

/** The line that opens the fields of an answer. */
export const ANSWER_FIELDS = 'Fields of the answer';

/** A table of fields, with a row for each: its name and its type, and what it is. */
export const fieldTable = (rows: readonly SchemaRow[]): Html => html`<table class="fields"><tbody>
${rows.map(
  ({ path, type, required, deprecated, description, limits }) => html`<tr>
<th scope="row"><code>${path}</code>${required ? html` <span class="must">required</span>` : null}${deprecated ? html` <span class="old">deprecated</span>` : null}
<span class="type">${type}</span></th><td>${prose(description)}${limits === '' ? null : html` <span class="limits">${limits}</span>`}</td></tr>
`,
)}</tbody></table>`;

/** The fields of a body behind a line that opens them, with the cases in which they differ; null if it has none. */
export function fieldsOf(title: string, schema: object, document: ApiDocument): Html | null {
  const rows = schemaRows(schema, document);
  const cases = schemaCases(schema, document);
  if (rows.length === 0 && cases.length === 0) return null;
  return html`<details><summary>${title}</summary>
${rows.length > 0 ? fieldTable(rows) : null}
${cases.map((one) => html`<h4>${prose(one.when)}</h4>${fieldTable(one.rows)}`)}</details>
`;
}
