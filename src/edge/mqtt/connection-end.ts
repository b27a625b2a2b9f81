import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import type { Clock } from '../../runtime/clock.ts';

/** So long after its last answer a connection that is to end may take to read it and to close. */
const CLOSE_MILLISECONDS = 1_000;

interface Parts {
  clock: Clock;
  client: Client;
  conn: Duplex;
  /** Throws away what still comes in, so that the other side's end is seen. */
  discard(): void;
  /** Cuts the connection off. */
  cut(reason: string): void;
}

/**
 * The end of a connection that has answers on the way: they would be lost with a socket that is cut off. So this side is
 * closed first, and the connection is cut off when the other side has not closed within a second.
 */
export function createConnectionEnd({ clock, client, conn, discard, cut }: Parts): () => void {
  let begun = false;
  return () => {
    if (client.closed || begun) return;
    begun = true;
    conn.once(
      'close',
      clock.after(CLOSE_MILLISECONDS, () => cut('the other side does not close')),
    );
    conn.end();
    discard();
  };
}
