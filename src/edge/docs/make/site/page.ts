import { type Html, html } from '../../html.ts';
import { textFileOfPage } from '../../names.ts';
import { SLOTS } from '../../slots.ts';
import type { Heading } from './markdown.ts';
import { pageOfTag, SECTIONS } from './places.ts';

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b6e75'/%3E%3Cpath d='M5 4v8h6' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E";

/** The parts that all pages of the site share. */
export interface Frame {
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
      ? html`<li><a href="${SLOTS.page(name)}" aria-current="page">${title}</a></li>`
      : html`<li><a href="${SLOTS.page(name)}">${title}</a></li>`;
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
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name === '' ? title : `${title} - Lapel`}</title>
<link rel="icon" href="${ICON}">
<link rel="alternate" type="text/markdown" href="${SLOTS.file(textFileOfPage(name))}">
<link rel="stylesheet" href="${SLOTS.file('colours.css')}">
<link rel="stylesheet" href="${SLOTS.file('lapel.css')}">
<link rel="stylesheet" href="${SLOTS.file('frame.css')}">
${head ?? null}
<script src="${SLOTS.file('site.js')}" defer data-index="${SLOTS.file('search-index.js')}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="bar">
<a class="brand" href="${SLOTS.page('')}">Lapel</a>
<a class="to-contents" href="#contents">All pages</a>
<div class="search" role="search" hidden>
<input type="search" aria-label="Search" placeholder="Search (press /)" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">
<ul id="found" role="listbox" aria-label="Found" hidden></ul>
</div>
<nav class="raw" aria-label="Documents"><a href="${SLOTS.document('openapi.json')}">openapi.json</a><a href="${SLOTS.document('asyncapi.json')}">asyncapi.json</a></nav>
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
