import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { Webhook } from 'standardwebhooks';

/** All events that the service sends to the URLs of an application. */
export type WebhookEvent =
  | SchemaTypes['webhooks/transaction-result']
  | SchemaTypes['webhooks/bluetooth-event']
  | SchemaTypes['webhooks/custom-event']
  | SchemaTypes['webhooks/call-event']
  | SchemaTypes['webhooks/recording-saved']
  | SchemaTypes['webhooks/recording-failed']
  | SchemaTypes['webhooks/file-upload-succeeded']
  | SchemaTypes['webhooks/file-upload-failed']
  | SchemaTypes['webhooks/rollout-event']
  | SchemaTypes['webhooks/test-event'];

/**
 * Verifies that a webhook comes from the service and returns its event: it must be signed with the authenticationKey
 * (op 3) and be at most five minutes old. `body` is the received body, not parsed. `webhookId` is the same in every
 * attempt, so drop events whose id you have seen. Throws standardwebhooks' WebhookVerificationError.
 */
export function verifyWebhook(received: {
  body: string | Uint8Array;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  authenticationKey: string;
}): { webhookId: string; event: WebhookEvent } {
  const headers = Object.fromEntries(Object.entries(received.headers).map(([name, value]) => [name, String(value)]));
  const { body } = received;
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const event = new Webhook(received.authenticationKey).verify(text, headers) as WebhookEvent;
  return { webhookId: headers['webhook-id'] ?? '', event };
}
