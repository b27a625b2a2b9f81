import { DEPRECATIONS, type Deprecations } from '../../runtime/deprecations.ts';
import { html } from './html.ts';
import { pageOf } from './page.ts';

interface Parts {
  serves: Deprecations['serves'];
  /** LAPEL_API_RELEASE. */
  apiRelease: string;
}

/** `/docs/deprecations`: the table of deprecations, a row for each with its name as anchor. */
export function deprecationsPage({ serves, apiRelease }: Parts): string {
  const rows = (Object.keys(DEPRECATIONS) as (keyof typeof DEPRECATIONS)[]).map((name) => {
    const { feature, release, replacement, row } = DEPRECATIONS[name];
    return html`<tr id="${name}">
<td><a href="#${name}"><code>${name}</code></a></td><td>${feature}</td><td>${row}</td><td>${release}</td>
<td>${replacement === null ? 'none' : html`<code>${replacement}</code>`}</td>
<td>${serves(name) ? 'deprecated, still served' : 'removed'}</td>
</tr>
`;
  });
  const body = html`<main class="wide text">
<h1>Deprecations</h1>
<p class="lead">What is deprecated is served for six months or more, then removed with a release of the interface. This service
serves the release <strong>${apiRelease}</strong>.</p>
<p>While something in an answer is deprecated, the answer says since when (<code>Deprecation</code>, RFC 9745), until when
(<code>Sunset</code>, RFC 8594), and links to its row here (<code>Link</code> with <code>rel="deprecation"</code>). From the release of
its removal on it is not in answers any more, and a request that sends it is answered 400 with <code>extra_forbidden</code>.</p>
<div class="scroll"><table>
<thead><tr><th>Name</th><th>What</th><th>Where</th><th>Removed in</th><th>Replacement</th><th>Here</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>
</main>`;
  return pageOf({ path: 'docs/deprecations', title: 'Lapel: deprecations', body });
}
