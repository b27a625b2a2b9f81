import { type Html, html } from './html.ts';

/**
 * Headers of every page. A page may load only files of this service, and data URLs, which Swagger UI uses for its
 * icons.
 */
export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b6e75'/%3E%3Cpath d='M5 4v8h6' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E";

const PAGES = [
  { path: 'docs', name: 'API reference' },
  { path: 'docs/events', name: 'Devices and webhooks' },
  { path: 'docs/deprecations', name: 'Deprecations' },
] as const;

interface Page {
  path: (typeof PAGES)[number]['path'];
  title: string;
  head?: Html;
  body: Html;
}

/** Makes a whole page. Its links are relative, so that it works below any path that a proxy chooses. */
export function pageOf({ path, title, head, body }: Page): string {
  const root = path === 'docs' ? '' : '../';
  const links = PAGES.map((page) =>
    page.path === path
      ? html`<a href="${root}${page.path}" aria-current="page">${page.name}</a>`
      : html`<a href="${root}${page.path}">${page.name}</a>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
${head ?? null}
<link rel="stylesheet" href="${root}docs/lapel.css">
</head>
<body>
<header class="bar"><div class="wide">
<a class="brand" href="${root}docs">Lapel</a>
<nav aria-label="Reference">${links}</nav>
<nav class="raw" aria-label="Documents"><a href="${root}openapi.json">openapi.json</a><a href="${root}asyncapi.json">asyncapi.json</a></nav>
</div></header>
${body}
</body>
</html>
`.html;
}
