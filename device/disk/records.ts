/** Importance of an event: when the store is full, the oldest of the lowest importance goes first. */
export type Importance = 'low' | 'normal' | 'high';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** An acknowledgement, as the topic `acks` has it. */
export interface Ack {
  transactionId: number;
  status: 'succeeded' | 'failed';
  result?: object;
  error?: { code: string; message: string };
}

/** An event, as the topic `events` has it. */
export interface EventMessage {
  eventId: string;
  type: string;
  occurredAt: string;
  data: object;
}

/**
 * What is written to the file. `id` of a command is its transactionId and its issuedAt with a space between; `at` is the
 * wall clock in milliseconds, which may be wrong.
 */
export type DiskRecord =
  | { k: 'begun'; id: string; at: number; operation: string }
  | { k: 'progress'; id: string; value: unknown }
  | { k: 'answer'; id: string; at: number; ack: Ack }
  | { k: 'acked'; id: string }
  | { k: 'event'; id: string; importance: Importance; message: EventMessage }
  | { k: 'told'; id: string }
  | { k: 'dropped'; count: number; since: string | null }
  | { k: 'set'; name: string; value: unknown };
