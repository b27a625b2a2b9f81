import { type Html, html } from '../../html.ts';
import type { Links } from './links.ts';
import type { Heading } from './markdown.ts';
import { pageOfTag, SECTIONS } from './places.ts';

/** Headers of every page. A page may load only files of this service; its icon is a data URL. */
export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b6e75'/%3E%3Cpath d='M5 4v8h6' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E";

/** The parts that all pages of a site share. */
export interface Frame {
  links: Links;
  /** The tags of the OpenAPI document: each has a page. */
  tags: readonly string[];
}

interface Page {
  /** The name of the page below `/docs`; '' for the first page. */
  name: string;
  title: string;
  /** The headings of the page, of which the second level is listed beside it. */
  headings?: readonly Heading[];
  /** Further sheets and scripts. */
  head?: Html;
  body: Html;
}

/** The pages of the reference in the navigation: names and titles. */
function referencePages({ tags }: Frame): (readonly [name: string, title: string])[] {
  return [
    ['api', 'The management API'],
    ...tags.map((tag) => [pageOfTag(tag), tag] as const),
    ['events', 'Devices and webhooks'],
    ['deprecations', 'Deprecations'],
  ];
}

function navigation(frame: Frame, current: string): Html {
  const entry = ([name, title]: readonly [string, string]): Html =>
    name === current
      ? html`<li><a href="${frame.links.page(name)}" aria-current="page">${title}</a></li>`
      : html`<li><a href="${frame.links.page(name)}">${title}</a></li>`;
  const list = (title: string, pages: readonly (readonly [string, string])[]): Html =>
    html`<h2>${title}</h2><ul>${pages.map(entry)}</ul>\n`;
  const sections = SECTIONS.map(
    ({ title, guides }) => [title, guides.map((guide) => [guide.name, guide.title] as const)] as const,
  );
  const [guides, ...others] = sections.map(([title, pages]) => list(title, pages));
  return html`<nav id="contents" class="pages" aria-label="Pages">
${guides!}${list('Reference', referencePages(frame))}${others}</nav>`;
}

function outline(headings: readonly Heading[]): Html | null {
  const sections = headings.filter(({ depth }) => depth === 2);
  if (sections.length < 3) return null;
  return html`<nav class="outline" aria-label="On this page"><h2>On this page</h2>
<ul>${sections.map(({ anchor, text }) => html`<li><a href="#${anchor}">${text}</a></li>`)}</ul></nav>`;
}

/** Makes a whole page. All of it can be read without a script; the script adds the search and the copy buttons. */
export function pageOf(frame: Frame, { name, title, headings = [], head, body }: Page): string {
  const { links } = frame;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name === '' ? title : `${title} - Lapel`}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${links.file('colours.css')}">
<link rel="stylesheet" href="${links.file('lapel.css')}">
<link rel="stylesheet" href="${links.file('frame.css')}">
${head ?? null}
<script src="${links.file('site.js')}" defer data-index="${links.file('search-index.js')}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="bar">
<a class="brand" href="${links.page('')}">Lapel</a>
<a class="to-contents" href="#contents">All pages</a>
<div class="search" role="search" hidden>
<input type="search" aria-label="Search" placeholder="Search (press /)" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">
<ul id="found" role="listbox" aria-label="Found" hidden></ul>
</div>
<nav class="raw" aria-label="Documents"><a href="${links.document('openapi.json')}">openapi.json</a><a href="${links.document('asyncapi.json')}">asyncapi.json</a></nav>
</header>
<div class="columns">
<main id="main">
${body}
</main>
${navigation(frame, name)}
${outline(headings)}
</div>
</body>
</html>
`.html;
}
