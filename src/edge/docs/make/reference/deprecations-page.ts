import { DEPRECATIONS, type Deprecations } from '@lapel/schemas/contracts/deprecations';
import { html } from '../../html.ts';
import { SLOTS } from '../../slots.ts';
import { type Frame, pageOf } from '../site/page.ts';

interface Parts {
  serves: Deprecations['serves'];
}

/** The page `/docs/deprecations`: a table with a row for each deprecated feature, and its name as anchor. */
export function deprecationsPage({ serves }: Parts, frame: Frame): string {
  const rows = (Object.keys(DEPRECATIONS) as (keyof typeof DEPRECATIONS)[]).map((name) => {
    const { feature, release, replacement, part } = DEPRECATIONS[name];
    return html`<tr id="${name}">
<td><a href="#${name}"><code>${name}</code></a></td><td>${feature}</td><td>${part}</td><td>${release}</td>
<td>${replacement === null ? 'none' : html`<code>${replacement}</code>`}</td>
<td>${serves(name) ? 'deprecated, still served' : 'removed'}</td>
</tr>
`;
  });
  const body = html`<h1>Deprecations</h1>
<p class="lead">A deprecated feature is served for at least six months, then removed with a release of the interface. This service
serves the release <strong>${SLOTS.apiRelease}</strong>.</p>
<p>An answer that contains a deprecated feature says since when it is deprecated (<code>Deprecation</code>, RFC 9745), until when it is
served (<code>Sunset</code>, RFC 8594), and links to its row here (<code>Link</code> with <code>rel="deprecation"</code>). From the release of
its removal on, answers no longer contain it, and a request that sends it is answered 400 with <code>extra_forbidden</code>.</p>
<div class="scroll" tabindex="0"><table>
<thead><tr><th>Name</th><th>Feature</th><th>Part of the interface</th><th>Removed in</th><th>Replacement</th><th>This service</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
  return pageOf(frame, { name: 'deprecations', title: 'Deprecations', body });
}
