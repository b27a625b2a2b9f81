import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** The part of a webhook's body that the demo looks at (schemas/webhooks/). */
export interface Notification {
  type: string;
  data: {
    deviceId: string;
    transaction?: {
      transactionId: number;
      operation: string;
      status: string;
      result: Record<string, unknown> | null;
      error: { code: string } | null;
    };
    /** Of things that happen on devices. */
    eventId?: string;
  };
}

export interface Received {
  /** The same in every attempt: a receiver drops repetitions by it. */
  webhookId: string;
  notification: Notification;
}

const EVENTS = '/events';
const URLS = '/upload-urls';

const header = ({ headers }: IncomingMessage, name: string): string => String(headers[name] ?? '');

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** What a receiver must do with every notification before it believes a word of it. Throws in words. */
function verify(request: IncomingMessage, body: Buffer, authenticationKey: string): Notification {
  const headers = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, header(request, name)]),
  );
  let notification: unknown;
  try {
    notification = new Webhook(authenticationKey).verify(body, headers);
  } catch (cause) {
    throw new Error(`webhook-signature: ${(cause as Error).message}`, { cause });
  }
  const expected = createHmac('sha256', authenticationKey).update(body).digest('hex');
  if (!sameText(header(request, 'x-notification-key'), expected)) throw new Error('x-notification-key does not match');
  return notification as Notification;
}

/**
 * A developer's webhook receiver on a free port of 127.0.0.1: verifies both signatures over the raw bytes, answers 204 to
 * what is genuine (a repetition too), with upload URLs to who asks for them, and 401 to the rest.
 */
export async function startWebhookReceiver({
  authenticationKey,
  onReceived,
  onUrlsWanted,
  onForged,
}: {
  authenticationKey: () => string;
  onReceived: (received: Received, repeated: boolean) => void;
  /** A device needs upload URLs: what is answered. */
  onUrlsWanted?: (notification: Notification) => Promise<object>;
  onForged: (reason: string) => void;
}) {
  const seen = new Set<string>();

  async function receive(request: IncomingMessage): Promise<{ status: number; body?: object }> {
    const body = await buffer(request);
    let notification: Notification;
    try {
      notification = verify(request, body, authenticationKey());
    } catch (error) {
      onForged((error as Error).message);
      return { status: 401 };
    }
    if (request.url === URLS) return { status: 200, body: (await onUrlsWanted?.(notification)) ?? {} };
    const webhookId = header(request, 'webhook-id');
    const repeated = seen.has(webhookId);
    seen.add(webhookId);
    onReceived({ webhookId, notification }, repeated);
    return { status: 204 };
  }

  const server = createServer((request, response) => {
    receive(request).then(
      ({ status, body }) =>
        body
          ? response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
          : response.writeHead(status).end(),
      () => response.destroy(), // the sender went away in the middle of its body
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: base + EVENTS,
    urlsUrl: base + URLS,
    async [Symbol.asyncDispose](): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
