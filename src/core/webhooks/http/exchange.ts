import type { Answered } from './answer-reader.ts';

/** What happens to one message; exactly one of the two is called, and nothing after the exchange was cut. */
export interface Exchange {
  /** The answer is complete, or longer than it may be. */
  answered(answer: Answered): void;
  /**
   * The exchange ended without a complete answer. `part`: the answer as far as it has come, at least with its head.
   * `wasKept`: the connection had carried answers before, and ended without a byte of another one.
   */
  failed(cause: Error, about: { wasKept?: boolean; part?: Answered | undefined }): void;
}

/** A message, without the headers that follow from its URL and its body. */
export interface Sent {
  /** The developer for whose application the message is sent. */
  owner: string;
  headers: Record<string, string>;
  body: string;
  /** Whether a kept connection has ended when the message was sent on it, so that it goes on a new one. */
  again?: boolean;
}

/** Ends an exchange; returns the answer as far as it has come. */
export type Cut = () => Answered | undefined;

/** A way to send messages. `send` throws when the URL is none, or a header cannot be sent. */
export interface Exchanges {
  send(url: string, sent: Sent, exchange: Exchange): Cut;
  /** Closes all connections. */
  close(): void;
}

/** The receiver has closed the connection. */
export class ClosedByReceiver extends Error {
  constructor() {
    super('the receiver closed the connection before its answer was complete');
    this.name = 'ClosedByReceiver';
  }
}
