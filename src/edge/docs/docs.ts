import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ApiDocument } from '../../platform/contracts/api-document.ts';
import type { Contracts } from '../../platform/contracts/contracts.ts';
import type { Deprecations } from '../../runtime/deprecations.ts';
import { isInstalled } from '../../runtime/installation.ts';
import { createRemembered } from '../../runtime/remembered.ts';
import { createDocsFile, type DocsFile } from './file.ts';

interface Parts {
  contracts: Pick<Contracts, 'documents'>;
  deprecations: Deprecations;
  /** The URL of the API that callers use (`{base_url}`), without a slash at its end. */
  publicUrl(): string;
  /** The URLs that devices connect to: an `mqtt`, `mqtts`, `ws` or `wss` URL for each listener. */
  mqttUrls(): string[];
}

export type Docs = ReturnType<typeof createDocs>;

/** All files below `/docs`, and the two API documents. */
export const DOCS_FILES = [
  '/openapi.json',
  '/asyncapi.json',
  '/docs',
  '/docs/events',
  '/docs/deprecations',
  '/docs/lapel.css',
  '/docs/reference.js',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
] as const;
export type DocsPath = (typeof DOCS_FILES)[number];

const own = (name: string): string => fileURLToPath(new URL(`./files/${name}`, import.meta.url));
/** A file of Swagger UI. A release has it beside the own files, because its package is large. */
const packaged = (name: string): string =>
  isInstalled ? own(name) : fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';
const CSS_TYPE = 'text/css; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

// Headers of the files in which addresses and the release of the interface are named. These may change with a restart,
// so browsers ask each time whether the file has changed.
const REVALIDATED = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' };
// Headers of the files of packages, which are large and change only when the service is updated.
const CACHED = { 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' };

const SERVERS: Record<string, string> = {
  mqtt: 'MQTT over TCP',
  mqtts: 'MQTT over TLS',
  ws: 'MQTT over WebSocket',
  wss: 'MQTT over WebSocket and TLS',
};

/**
 * The documents of the API and its reference in the browser. Each file is made at its first request and kept. The code
 * that makes it is loaded then, too, which keeps the start fast.
 */
export function createDocs({ contracts, deprecations, publicUrl, mqttUrls }: Parts) {
  const { serves } = deprecations;

  async function read(file: 'openapi.yaml' | 'asyncapi.yaml'): Promise<ApiDocument> {
    const { readApiDocument } = await import('../../platform/contracts/api-document.ts');
    return readApiDocument(file, { schemas: contracts.documents, serves });
  }

  async function openApi(): Promise<object> {
    const { servers: _, ...document } = await read('openapi.yaml');
    const { applicationToken } = document.components['securitySchemes'] as {
      applicationToken: { flows: { clientCredentials: { tokenUrl: string } } };
    };
    const flow = applicationToken.flows.clientCredentials;
    flow.tokenUrl = `${publicUrl()}${flow.tokenUrl}`;
    const { openapi, info, ...rest } = document;
    return { openapi, info, servers: [{ url: publicUrl(), description: 'This service' }], ...rest };
  }

  async function asyncApi(): Promise<ApiDocument> {
    const document = await read('asyncapi.yaml');
    const { mqtt } = document.servers as { mqtt: object };
    const servers = mqttUrls().map((url) => {
      const { host, pathname, protocol } = new URL(url);
      const name = protocol.slice(0, -1);
      const path = pathname.length > 1 ? { pathname } : {};
      return [name, { ...mqtt, host, ...path, protocol: name, description: SERVERS[name] }] as const;
    });
    const references = servers.map(([name]) => ({ $ref: `#/servers/${name}` }));
    for (const channel of Object.values(document.channels as Record<string, { servers?: object }>)) {
      if (channel.servers) channel.servers = references;
    }
    return { ...document, servers: Object.fromEntries(servers) };
  }

  async function page(text: string): Promise<DocsFile> {
    const { PAGE_HEADERS } = await import('./page.ts');
    return createDocsFile(HTML_TYPE, text, { ...REVALIDATED, ...PAGE_HEADERS });
  }
  const json = (document: object): Promise<DocsFile> =>
    createDocsFile(JSON_TYPE, JSON.stringify(document), REVALIDATED);
  const file = async (type: string, path: string, headers: Record<string, string>): Promise<DocsFile> =>
    createDocsFile(type, await readFile(path), headers);

  const made: Record<DocsPath, () => Promise<DocsFile>> = {
    '/openapi.json': async () => json(await openApi()),
    '/asyncapi.json': async () => json(await asyncApi()),
    '/docs': async () => page((await import('./api-page.ts')).apiPage()),
    '/docs/events': async () => page((await import('./events-page.ts')).eventsPage(await asyncApi())),
    '/docs/deprecations': async () => page((await import('./deprecations-page.ts')).deprecationsPage(deprecations)),
    '/docs/lapel.css': () => file(CSS_TYPE, own('lapel.css'), REVALIDATED),
    '/docs/reference.js': () => file(SCRIPT_TYPE, own('reference.js'), REVALIDATED),
    '/docs/swagger-ui.css': () => file(CSS_TYPE, packaged('swagger-ui.css'), CACHED),
    '/docs/swagger-ui-bundle.js': () => file(SCRIPT_TYPE, packaged('swagger-ui-bundle.js'), CACHED),
  };
  const remembered = createRemembered({ keptMicros: Number.POSITIVE_INFINITY });

  return {
    find: (path: DocsPath): Promise<DocsFile> => remembered(path, made[path]),
  };
}
