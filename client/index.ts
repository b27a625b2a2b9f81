// The entry of the package @lapel/client. It uses only what browsers have as well.
export type { SchemaTypes } from '@lapel/schemas/contracts/types';
export { type CallOptions, type ClientOptions, createLapelClient, type LapelClient } from './lapel-client.ts';
export { type Fault, LapelError } from './lapel-error.ts';
export type { Operations } from './operations.ts';
export type { EventsInput, StreamEvent } from './read-events.ts';
export { verifyWebhook, type WebhookEvent } from './verify-webhook.ts';
