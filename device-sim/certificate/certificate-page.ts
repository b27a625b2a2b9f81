import { readFileSync } from 'node:fs';
import { plainText } from '../plain-text.ts';
import { Html, html } from '../report/html.ts';
import { clock } from '../show.ts';
import type { Certificate, Evidence, RuleOutcome } from './certificate.ts';

const STYLE = new URL('../report/page.css', import.meta.url);
const TONES = { passed: 'good', failed: 'bad', incomplete: 'warn' } as const;
const WORDS = { holds: 'holds', broken: 'broken', 'not seen': 'not seen', 'does not apply': 'does not apply' } as const;

const seen = ({ name, outcome, shown, story }: Evidence): Html =>
  html`<li>${name}: ${WORDS[outcome]} (${shown})${story.length > 0 ? html`<pre>${story.map(plainText).join('\n')}</pre>` : null}</li>`;

const row = ({ name, text, outcome, evidence }: RuleOutcome): Html =>
  html`<tr><td>${name}</td><td>${text}</td><td>${WORDS[outcome]}</td><td><ul>${evidence.map(seen)}</ul></td></tr>`;

/** A signed report as a page. `keyId` is that of the key with which it was checked. */
export function certificatePage(certificate: Certificate, keyId: string): string {
  const { tested, subject, release, rulesDigest, startedAt, milliseconds, outcome, rules } = certificate;
  const facts: [string, string][] = [
    ...Object.entries(subject),
    ['Started', `${startedAt} (the clock of the tester)`],
    ['Lasted', clock(milliseconds)],
    ['Rules', `of Lapel ${release}, SHA-256 ${rulesDigest}`],
    ['Signed by', keyId],
  ];
  const title = `Report of a ${tested}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(readFileSync(STYLE, 'utf8'))}</style>
</head>
<body>
<main>
<h1>${title} <span class="verdict ${TONES[outcome]}">${outcome}</span></h1>
<dl class="meta">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<table>
<thead><tr><th>Rule</th><th>It says</th><th>Outcome</th><th>Evidence</th></tr></thead>
<tbody>${rules.map(row)}</tbody>
</table>
</main>
</body>
</html>
`.text;
}
