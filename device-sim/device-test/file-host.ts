import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../usage-error.ts';
import type { Journal } from './journal.ts';

/** How the server answers the requests for one file. */
export type Service =
  | 'whole'
  /** 403, as object stores answer when the URL has expired. */
  | 'expired'
  /** Cuts the first download behind so many bytes; later ones are whole. */
  | { readonly cutBehind: number };

/** A file with a URL of its own. */
export interface HostedFile {
  readonly url: string;
  /** The number of requests for it. */
  readonly requests: number;
  /** Whether the last byte was sent. */
  readonly isComplete: boolean;
  /** Requests wait until this is called; then they are answered. */
  release(): void;
}

/** The server of the files to install, as an object store behind the service would be. */
export interface FileHost extends AsyncDisposable {
  host(bytes: Buffer, service: Service, options?: { isHeld?: boolean }): HostedFile;
}

interface Entry {
  readonly bytes: Buffer;
  readonly service: Service;
  readonly name: string;
  requests: number;
  isComplete: boolean;
  readonly released: Promise<void>;
}

/** The first byte that a request with a range wants; 0 without a usable range (RFC 9110 14.2). */
function firstByte({ headers: { range, 'if-range': condition } }: IncomingMessage, tag: string, size: number): number {
  const [, from] = /^bytes=(\d{1,15})-$/.exec(range ?? '') ?? [];
  if (from === undefined || (condition !== undefined && condition !== tag)) return 0;
  return Number(from) < size ? Number(from) : 0;
}

/** `onRequest` is called after each request has arrived. `publicHost`: the host in the URLs. */
export async function startFileHost({
  listen,
  publicHost,
  journal,
  onRequest,
}: {
  listen: { host: string; port: number };
  publicHost: string;
  journal: Journal;
  onRequest: () => void;
}): Promise<FileHost> {
  const entries = new Map<string, Entry>();

  function send(entry: Entry, request: IncomingMessage, response: ServerResponse): void {
    const { bytes, service, name, requests } = entry;
    if (service === 'expired') {
      journal.note('service', `answers 403 for ${name}: the URL has expired`);
      return void response.writeHead(403).end();
    }
    const tag = `"${name}"`;
    const from = firstByte(request, tag, bytes.length);
    const rest = bytes.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': rest.length,
      etag: tag,
      ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    if (typeof service === 'object' && requests === 1) {
      journal.note('service', `cuts the download of ${name} behind ${service.cutBehind} bytes`);
      response.flushHeaders();
      return void response.write(rest.subarray(0, service.cutBehind), () => response.destroy());
    }
    response.end(rest, () => (entry.isComplete = true));
  }

  const server = createServer((request, response) => {
    const entry = entries.get(request.url ?? '');
    if (!entry || request.method !== 'GET') return void response.writeHead(404).end();
    entry.requests += 1;
    journal.note('device', `downloads ${entry.name}${request.headers.range ? `, ${request.headers.range}` : ''}`);
    onRequest();
    void entry.released.then(() => send(entry, request, response));
  });
  server.listen(listen.port, listen.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError('--files-listen', (error as Error).message);
  }
  const { port } = server.address() as AddressInfo;
  const shown = publicHost.includes(':') ? `[${publicHost}]` : publicHost;

  return {
    host(bytes, service, { isHeld = false } = {}) {
      const name = `file-${entries.size + 1}`;
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      if (!isHeld) release();
      const entry: Entry = { bytes, service, name, requests: 0, isComplete: false, released };
      entries.set(`/${name}.apk`, entry);
      return {
        url: `http://${shown}:${port}/${name}.apk`,
        get requests() {
          return entry.requests;
        },
        get isComplete() {
          return entry.isComplete;
        },
        release,
      };
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
