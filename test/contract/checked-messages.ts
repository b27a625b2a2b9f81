import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { readAsyncApi, schemaName } from './documents.ts';

const contracts = loadContracts();
const { channels } = readAsyncApi();

/** Parses a captured MQTT message; throws if it differs from the message that asyncapi.yaml documents for its topic. */
export function checkMessage(topic: string, payload: string | Buffer): Record<string, unknown> {
  const address = topic.replace(/^devices\/[^/]+\//, 'devices/{deviceId}/');
  const channel = Object.values(channels).find((candidate) => candidate.address === address);
  if (!channel) throw new Error(`the topic ${topic} is not documented`);
  return checked(topic, Object.keys(channel.messages)[0] ?? '', channel.messages, payload);
}

/** The documented message of each type of webhook. */
const WEBHOOKS: [RegExp, string][] = [
  [/^test$/, 'testEvent'],
  [/^endpoint\./, 'endpointEvent'],
  [/^rollout\./, 'rolloutEvent'],
  [/^transaction\./, 'transactionResult'],
  [/^bluetooth\./, 'bluetoothEvent'],
  [/^custom\./, 'customEvent'],
  [/^call\./, 'callEvent'],
  [/^recording\.saved$/, 'recordingSaved'],
  [/^recording\.failed$/, 'recordingFailed'],
  [/^fileUpload\.succeeded$/, 'fileUploadSucceeded'],
  [/^fileUpload\.failed$/, 'fileUploadFailed'],
];

/**
 * Parses a captured webhook body; throws if it differs from asyncapi.yaml. Returns it without its numbers, which tests of the
 * stream look at.
 */
export function checkWebhook(payload: string | Buffer): Record<string, unknown> {
  const messages = channels['webhooks']?.messages ?? {};
  const body = checked('webhook', 'envelope', messages, payload);
  const [, name] = WEBHOOKS.find(([type]) => type.test(String(body['type']))) ?? [];
  if (name) checked('webhook', name, messages, payload);
  const { sequence: _sequence, deviceSequence: _deviceSequence, ...event } = body;
  return event;
}

/** The same for requests for upload URLs. */
export const checkUploadUrlRequest = (name: 'uploadUrlRequest' | 'uploadUrlsRequest', payload: string | Buffer) =>
  checked('upload URL request', name, channels['uploadUrls']?.messages ?? {}, payload);

function checked(
  place: string,
  name: string,
  messages: (typeof channels)[string]['messages'],
  payload: string | Buffer,
): Record<string, unknown> {
  const message = messages[name];
  if (!message) throw new Error(`the message ${name} is not documented`);
  const value = JSON.parse(payload.toString()) as Record<string, unknown>;
  const faults = contracts.faults(schemaName(message.payload.schema), value, name);
  if (faults.length > 0) {
    throw new Error(
      `${place}: ${faults.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')}: ${payload.toString()}`,
    );
  }
  return value;
}
