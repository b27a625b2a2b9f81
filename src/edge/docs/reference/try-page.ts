import { type Html, html } from '../html.ts';
import { type Frame, pageOf } from '../site/page.ts';

const head = ({ links }: Frame): Html => html`<link rel="stylesheet" href="${links.file('swagger-ui.css')}">
<link rel="stylesheet" href="${links.file('try.css')}">
<script src="${links.file('swagger-ui-bundle.js')}" defer></script>
<script src="${links.file('try.js')}" defer></script>`;

const body = ({ links }: Frame): Html => html`<h1>Try calls</h1>
<p class="lead">Every call carries an access token. To make calls from this page:</p>
<ol>
<li><strong>Take the application’s id and secret.</strong> The secret was shown once, when the application was created.</li>
<li><strong>Press Authorize,</strong> enter both as client_id and client_secret, choose the scopes, and
press Authorize there. The page asks <code>POST /api/v1/authenticate</code> for a token; it lives one hour.</li>
<li><strong>Open a call,</strong> replace <code>patrol</code> by your application’s id, and press Execute.</li>
</ol>
<p class="note">Calls made here are real: they act on the application and its devices. The secret stays in this page’s memory and
is gone when the page is closed.</p>
<div id="reference"><p class="note">This page needs JavaScript; <a href="${links.page('api')}">the reference</a> does not.</p></div>`;

/** The page `/docs/try`: how to get a token, then Swagger UI over `/openapi.json`, which makes calls. */
export const tryPage = (frame: Frame): string =>
  pageOf(frame, { name: 'try', title: 'Try calls', head: head(frame), body: body(frame) });
