import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import type { Clock } from '../../runtime/clock.ts';

/** Milliseconds that the other side has, after the last answer, to read it and to close the connection. */
const CLOSE_MILLISECONDS = 1_000;

interface Parts {
  clock: Clock;
  client: Client;
  conn: Duplex;
  /** Discards further input, so that the close of the other side is noticed. */
  discard(): void;
  /** Closes the connection at once. */
  cut(reason: string): void;
}

/**
 * Ends a connection whose last answers are still being sent. Closing it at once would lose them, so only this side is
 * closed first. The connection is cut when the other side has not closed it within a second.
 */
export function createConnectionEnd({ clock, client, conn, discard, cut }: Parts): () => void {
  let begun = false;
  return () => {
    if (client.closed || begun) return;
    begun = true;
    conn.once(
      'close',
      clock.after(CLOSE_MILLISECONDS, () => cut('the device did not close the connection')),
    );
    conn.end();
    discard();
  };
}
