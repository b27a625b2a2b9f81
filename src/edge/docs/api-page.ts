import { html } from './html.ts';
import { pageOf } from './page.ts';

const HEAD = html`<link rel="stylesheet" href="docs/swagger-ui.css">
<script src="docs/swagger-ui-bundle.js" defer></script>
<script src="docs/reference.js" defer></script>`;

const START = html`<section class="start wide" aria-labelledby="start">
<h1 id="start">The management API</h1>
<p class="lead">Every call carries an access token. To try the calls on this page:</p>
<ol>
<li><strong>Take the application’s id and secret.</strong> The secret was shown once, when the application was created.</li>
<li><strong>Press Authorize,</strong> enter both as client_id and client_secret, choose the scopes, and
press Authorize there. The page asks <code>POST /api/v1/authenticate</code> for a token; it lives one hour.</li>
<li><strong>Open a call,</strong> replace <code>patrol</code> by your application’s id, and press Execute.</li>
</ol>
<pre><code>curl -u <var>APPLICATION</var>:<var>SECRET</var> -d grant_type=client_credentials -d scope=svc:application:read <span data-base></span>/api/v1/authenticate
curl -H "Authorization: Bearer <var>TOKEN</var>" <span data-base></span>/v1/applications/<var>APPLICATION</var></code></pre>
<p class="note">Calls made here are real: they act on the application and its devices. The secret stays in this page’s memory and
is gone when the page is closed. The messages of devices and webhooks are on <a href="docs/events">a page of their own</a>.</p>
</section>
<main id="reference" class="wide"><p class="note">This reference needs JavaScript; the document itself is <a href="openapi.json">openapi.json</a>.</p></main>`;

/** The page `/docs`: how to get a token, then Swagger UI over `/openapi.json`. */
export const apiPage = (): string => pageOf({ path: 'docs', title: 'Lapel API reference', head: HEAD, body: START });
