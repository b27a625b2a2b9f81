import type { Clock } from '../../runtime/clock.ts';

interface Parts {
  clock: Pick<Clock, 'after'>;
  /** Milliseconds from the start of a connection, or the end of its handshake, to the last byte of its CONNECT. */
  milliseconds: number;
}

/** Number of pieces that the time is divided into. */
const PIECES = 10;

/**
 * The time limit for logins. It is counted in pieces, by one timer for all connections. When the service itself stood
 * still, only one piece has passed, however long that was, and the data that arrived meanwhile is read before the next
 * check. So no connection is closed because of delays of the service.
 */
export function createLoginTime<Connection>({ clock, milliseconds }: Parts, expire: (connection: Connection) => void) {
  /** The number of the time piece in which each connection began, in that order. */
  const counted = new Map<Connection, number>();
  let piece = 0;
  let runs = false;

  function look(): void {
    for (const [connection, since] of counted) {
      if (piece - since < PIECES) return;
      counted.delete(connection);
      expire(connection);
    }
  }

  function goOn(): void {
    runs = counted.size > 0;
    if (!runs) return;
    clock.after(milliseconds / PIECES, () => {
      piece += 1;
      setImmediate(look);
      goOn();
    });
  }

  return {
    begin(connection: Connection): void {
      counted.set(connection, piece);
      if (!runs) goOn();
    },
    end(connection: Connection): void {
      counted.delete(connection);
    },
  };
}
