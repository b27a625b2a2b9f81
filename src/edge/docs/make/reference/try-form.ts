import type { ApiDocument } from '@lapel/schemas/contracts/api-document';
import { type Html, html } from '../../html.ts';
import type { Operation, Parameter } from './operation.ts';

const ISSUE_TOKEN = 'issueToken';

/** The names of all scopes, as a token request has them. */
function scopesOf({ components }: ApiDocument): string {
  const { applicationToken } = components['securitySchemes'] as {
    applicationToken: { flows: { clientCredentials: { scopes: object } } };
  };
  return Object.keys(applicationToken.flows.clientCredentials.scopes).join(' ');
}

/** The form at the top of a page that gets a token for its calls. A script shows it, because it needs one. */
export const tokenForm = (document: ApiDocument): Html => html`<details class="try" id="token" hidden>
<summary>Make calls from this page</summary>
<form>
<p class="note">Calls made here are real: they act on the application and its devices. Secret and token stay in this page’s memory
and are gone when you leave it.</p>
<label>client_id <input name="client_id" autocomplete="off" spellcheck="false" placeholder="the application’s id" required></label>
<label>client_secret <input name="client_secret" type="password" autocomplete="off" required></label>
<label>scope <input name="scope" autocomplete="off" spellcheck="false" value="${scopesOf(document)}" required></label>
<p><button>Get a token</button> <span role="status"></span></p>
</form>
</details>`;

function field(id: string, { name, in: place, required, example }: Parameter): Html {
  const shown = typeof example === 'string' ? example : example === undefined ? '' : JSON.stringify(example);
  // The example of a query or a header is not sent before somebody writes it.
  const value = place === 'path' && name !== 'applicationId' ? shown : '';
  return html`<label>${name} <input name="${name}" id="${id}-try-${name}" data-in="${place}" value="${value}" placeholder="${shown}" autocomplete="off" spellcheck="false"${required ? html` required` : null}></label>\n`;
}

/** The form below an operation that makes its call; null for the operation that the form of the token calls. */
export function tryForm({ id, method, path, scope, parameters, body }: Operation): Html | null {
  if (id === ISSUE_TOKEN) return null;
  const example = body?.example === undefined ? '' : JSON.stringify(body.example, null, 2);
  return html`<details class="try" hidden>
<summary>Try it</summary>
<form data-method="${method}" data-path="${path}" data-token="${scope === null ? 'none' : 'needed'}">
${parameters.map((one) => field(id, one))}${
  body
    ? html`<label>Body <textarea name="" rows="${String(Math.min(example.split('\n').length + 1, 16))}" data-type="${body.type}" spellcheck="false">${example}</textarea></label>\n`
    : null
}<p><button>Send</button> <button type="button" class="stop" hidden>Stop</button> <span role="status"></span></p>
<pre class="sent" tabindex="0" hidden></pre>
<pre class="answer" tabindex="0" hidden></pre>
</form>
</details>`;
}
