import type { Look } from '../promises/looks.ts';

/** A message of the service on `devices/{deviceId}/commands` (contract, section 2). */
export interface Command {
  readonly transactionId: number;
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly issuedAt: string;
  /** 1 at the first delivery, higher at each repetition. */
  readonly attempt: number;
}

/** The answer to a command, which the device publishes on `devices/{deviceId}/acks`. */
export interface Answer {
  readonly transactionId: number;
  readonly status: 'succeeded' | 'failed';
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: Failure;
}

export interface Failure {
  /** One of the device error codes in the contract. */
  readonly code: string;
  readonly message: string;
}

/** An event, which the device publishes on `devices/{deviceId}/events`. */
export interface DeviceEvent {
  /** The id of the event. It is the same in every repetition, so that the service recognises it. */
  readonly eventId: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A message of the service on `devices/{deviceId}/responses`, the answer to a request of the device. */
export interface Response {
  readonly requestId: string;
  readonly answer: { readonly data: Readonly<Record<string, unknown>> } | { readonly error: Failure };
}

/** A message of the service on `devices/{deviceId}/errors`, about a message of the device. */
export interface Complaint {
  readonly topic: string;
  readonly reason: string;
  readonly details: unknown;
  /** The event that the report is about. */
  readonly eventId?: string;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseRecord(payload: Uint8Array): Record<string, unknown> | string {
  try {
    const value: unknown = JSON.parse(payload.toString());
    return isRecord(value) ? value : 'not a JSON object';
  } catch {
    return 'not JSON';
  }
}

/** Reads a command. A returned string says what is wrong with the payload. */
export function parseCommand(payload: Uint8Array, look?: Look): Command | string {
  look?.('command-readable');
  const value = parseRecord(payload);
  if (typeof value === 'string') return value;
  const { transactionId, operation, parameters, issuedAt, attempt } = value;
  if (!Number.isSafeInteger(transactionId) || (transactionId as number) < 1)
    return 'transactionId is not a positive integer';
  if (typeof operation !== 'string' || operation === '') return 'operation is not a text';
  if (!isRecord(parameters)) return 'parameters is not an object';
  if (typeof issuedAt !== 'string' || !issuedAt.endsWith('Z')) return 'issuedAt is not a time in UTC';
  if (!Number.isSafeInteger(attempt) || (attempt as number) < 1) return 'attempt is not a positive integer';
  return { transactionId: transactionId as number, operation, parameters, issuedAt, attempt: attempt as number };
}

/** Reads a message of the topic `errors`. A returned string says what is wrong with the payload. */
export function parseComplaint(payload: Uint8Array): Complaint | string {
  const value = parseRecord(payload);
  if (typeof value === 'string') return value;
  const { topic, reason, details, eventId } = value;
  if (typeof topic !== 'string' || typeof reason !== 'string') return 'topic or reason is missing';
  return { topic, reason, details, ...(typeof eventId === 'string' && { eventId }) };
}

/** Reads a message of the topic `responses`. A returned string says what is wrong with the payload. */
function parseResponse(payload: Uint8Array): Response | string {
  const value = parseRecord(payload);
  if (typeof value === 'string') return value;
  const { requestId, data, error } = value;
  if (typeof requestId !== 'string') return 'requestId is missing';
  if (!isRecord(error)) return isRecord(data) ? { requestId, answer: { data } } : 'it has neither data nor error';
  const { code, message } = error;
  if (typeof code !== 'string' || typeof message !== 'string') return 'code or message is missing';
  return { requestId, answer: { error: { code, message } } };
}

/** Reads a message that is no command. A text says what is wrong with it. */
export function parseOther(topic: 'responses' | 'errors', payload: Uint8Array): Response | Complaint | string {
  const [name, parse] =
    topic === 'responses' ? (['response', parseResponse] as const) : (['message on errors', parseComplaint] as const);
  const outcome = parse(payload);
  return typeof outcome === 'string' ? `an unreadable ${name}: ${outcome}` : outcome;
}
