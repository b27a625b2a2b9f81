/** The first line of a record. */
export interface TrafficHead {
  readonly record: 'device traffic';
  readonly version: 1;
  readonly run: string;
  /** UTC; `at` of all other lines counts from here. */
  readonly startedAt: string;
}

/** How a connection ended: by DISCONNECT, by the device without it, or by the network or the service. */
export type Ending = 'politely' | 'cut' | 'lost';

/** The direction of a message, as the device sees it. */
export type Direction = 'sent' | 'received';

/** One line after the first. `at`: milliseconds. */
export type TrafficLine = { readonly at: number } & (
  | { readonly device: string; readonly kind: 'connected' }
  | { readonly device: string; readonly kind: 'disconnected'; readonly how: Ending }
  | {
      readonly device: string;
      readonly kind: Direction;
      /** The last part of the topic: `commands`, `acks` ... */
      readonly topic: string;
      /** The JSON of the message, without its secrets; missing if it is no JSON. */
      readonly payload?: unknown;
    }
  /** The record has reached its greatest size; later traffic is missing. */
  | { readonly kind: 'full' }
);
