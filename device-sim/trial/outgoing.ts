import { createHmac } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';

/** A webhook on its way to the customer. */
export interface Outgoing {
  readonly id: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** The content of a webhook. */
export interface Content {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly sequence?: number;
  readonly deviceSequence?: number;
}

export const bodyOf = (content: Content): Buffer => Buffer.from(JSON.stringify(content));

/**
 * Signs a body as the service does: Standard Webhooks over `id.timestamp.body`. `at`: milliseconds of the Unix time.
 * Several keys make several signatures, in their order.
 */
export function signedWebhook(keys: string | readonly string[], id: string, at: number, body: Buffer): Outgoing {
  const timestamp = String(Math.floor(at / 1000));
  const signatures = [keys].flat().map((key) => {
    const bytes = Buffer.from(key.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', bytes).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  });
  return {
    id,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'lapel',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    },
  };
}
