import { ownVersion } from '@lapel/schemas/base/version';
import { html } from '../docs/html.ts';
import type { ConsoleFiles } from './files.ts';

/** The users of a listener's console: the operator of the service, or a customer's application. */
export type ConsoleRole = 'operator' | 'application';

/** A provider through which people sign in. */
export interface ConsoleProvider {
  providerId: string;
  /** The text of its button. */
  name: string;
}

interface Parts {
  role: ConsoleRole;
  /** The time zone of local date-times in the bodies of the REST API. */
  timeZone: string;
  providers: readonly ConsoleProvider[];
  /** The address of the documents; undefined where they are beside the console. */
  docsUrl: string | undefined;
  /** The relative path from the address of the page to the parent of `/console`, with a slash at its end. */
  root: string;
  files: Pick<ConsoleFiles, 'digest'>;
  /** The origin of the URLs that files are uploaded to. */
  objectsOrigin: string;
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b6e75'/%3E%3Cpath d='M5 4v8h6' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E";

/**
 * The policy of the page. It may load its own files only, and has no inline script. No text can become markup or a script
 * (`require-trusted-types-for`), whatever the page does with it.
 */
const policyOf = (objectsOrigin: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${objectsOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

/**
 * Makes the page of the console for an address. Its links are relative, so that it works below any path that a proxy
 * chooses.
 */
export function consolePage({ role, timeZone, providers, docsUrl, root, files, objectsOrigin }: Parts) {
  const folder = `${root}console/files/${files.digest}/`;
  const { html: text } = html`<!doctype html>
<html lang="en" data-role="${role}" data-root="${root}" data-version="${ownVersion()}" data-time-zone="${timeZone}" data-docs="${docsUrl ?? ''}" data-providers="${JSON.stringify(providers)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Lapel</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${folder}style.css">
<script type="module" src="${folder}main.js"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
  return {
    text,
    headers: {
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': policyOf(objectsOrigin),
      'X-Content-Type-Options': 'nosniff',
      // With `no-referrer`, browsers would send `Origin: null` with the changes that the console asks for, and the
      // service would refuse them.
      'Referrer-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
    },
  };
}
