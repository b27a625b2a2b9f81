import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import type { Clock } from '../../runtime/clock.ts';

/** Milliseconds that the client has, after the last answer, to read it and to close the connection. */
const CLOSE_MILLISECONDS = 1_000;

interface Parts {
  clock: Clock;
  client: Client;
  conn: Duplex;
  /** Reads and throws away what still arrives; otherwise the close by the client would not be noticed. */
  discard(): void;
  /** Closes the connection at once. */
  cut(reason: string): void;
}

/**
 * Ends a connection whose last answers are still being sent. Closing the connection at once would lose them. So first
 * only the sending side is closed, and the client has a second to close the connection before it is cut.
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
