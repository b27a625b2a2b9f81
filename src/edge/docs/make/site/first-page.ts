import { type Html, html, prose } from '../../html.ts';
import { SLOTS } from '../../slots.ts';
import { type Frame, pageOf } from './page.ts';
import { pageOfTag, SECTIONS } from './places.ts';

/** The first page of the site: each page with a line about it, guides first. */
export function firstPage(frame: Frame): string {
  const { tags } = frame;
  const card = (name: string, title: string, about: string): Html =>
    html`<li><a href="${SLOTS.page(name)}">${title}</a><p>${prose(about)}</p></li>\n`;
  const cards = ({ title, guides }: (typeof SECTIONS)[number]): Html =>
    html`<h2>${title}</h2>
<ul class="cards">
${guides.map((guide) => card(guide.name, guide.title, guide.about))}</ul>
`;
  const [guides, ...others] = SECTIONS.map(cards);
  const body = html`<h1>Lapel</h1>
<p class="lead">Manage wearable devices over REST, learn the results by signed webhooks, and speak MQTT on the device. Begin with
<a href="${SLOTS.page('tutorial')}">the first five minutes</a>.</p>
${guides!}
<h2>Reference</h2>
<ul class="cards">
${card('api', 'The management API', 'Every call, with examples for curl, the command line and TypeScript; every webhook.')}
${card('events', 'Devices and webhooks', 'Every topic and every message, with its fields and bounds.')}
${card('errors', 'Error codes', 'Every code, its status, and when it occurs.')}
</ul>
<p class="note">By subject: ${tags.map((tag) => html`<a href="${SLOTS.page(pageOfTag(tag))}">${tag}</a> `)}</p>
${others}`;
  return pageOf(frame, { name: '', title: 'Lapel: documents', body });
}
