import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { genuineWebhook, signedFirstWith } from '../customer/genuine.ts';
import { UsageError } from '../usage-error.ts';
import type { Base } from './misdeeds.ts';
import type { CustomerAnswer } from './sender.ts';

/** More than the service ever sends. */
const MOST_BYTES = 2 * 1024 ** 2;
/** Headers that belong to one connection (RFC 9110 7.6.1), or are set anew for the next one. */
const OF_A_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'content-length',
];

/** A verified webhook of the service, as it came. */
export interface Came extends Base {
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
}

/** The server that the service sends its webhooks to, in front of the customer's receiver. */
export interface Front extends AsyncDisposable {
  readonly url: string;
}

function withoutConnection(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = String(headers.connection ?? '').toLowerCase();
  const dropped = [...OF_A_CONNECTION, ...named.split(',').map((name) => name.trim())];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.includes(name)));
}

/** The body of a request; null if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Gives the answer of the customer to the service; 502 or 504 if there is none. */
function passBack({ status, reason, headers, body }: CustomerAnswer, response: ServerResponse): void {
  if (status === null) response.writeHead(reason.startsWith('no answer') ? 504 : 502).end();
  else response.writeHead(status, withoutConnection(headers)).end(body);
}

/**
 * Listens for the service. `port` 0 means a free one. Each webhook with a valid signature goes to `pass`, whose answer
 * the service gets; all others are answered 401 and go to `onUnverified`.
 */
export async function startFront({
  listen,
  publicUrl,
  readKey,
  pass,
  onUnverified,
}: {
  listen: { host: string; port: number };
  publicUrl: string | undefined;
  /**
   * Reads the authenticationKey. `isStale`: the key that was read last is not the newest key of a webhook, so it may be outdated.
   */
  readKey: (isStale: boolean) => Promise<string>;
  pass: (webhook: Came) => Promise<CustomerAnswer>;
  onUnverified: (reason: string) => void;
}): Promise<Front> {
  async function verified(headers: IncomingHttpHeaders, body: Buffer): Promise<string> {
    const known = await readKey(false);
    // The simulator signs webhooks of its own with the newest key, so it is not enough that a former one is accepted.
    const key = signedFirstWith(headers, body, known) ? known : await readKey(true);
    return genuineWebhook(headers, body, key).webhookId;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number): void => void response.writeHead(status).end();
    if (request.method !== 'POST') return answer(405);
    const body = await bodyOf(request);
    if (!body) return answer(413);
    let id: string;
    try {
      id = await verified(request.headers, body);
    } catch (error) {
      onUnverified((error as Error).message);
      return answer(401);
    }
    const headers = withoutConnection(request.headers);
    passBack(await pass({ id, body, headers, path: request.url ?? '/' }), response);
  }

  const server = createServer((request, response) => {
    // The service closed the connection in the middle of its body.
    handle(request, response).catch(() => response.destroy());
  });
  // No connection is closed for idleness, because the next webhook might be on its way at that moment.
  server.keepAliveTimeout = 0;
  server.listen(listen.port, listen.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError('--webhook-listen', (error as Error).message);
  }
  const { port } = server.address() as AddressInfo;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return {
    url: publicUrl ?? `http://${host}:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
