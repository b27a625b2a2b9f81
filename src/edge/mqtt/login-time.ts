import type { Clock } from '../../runtime/clock.ts';

interface Parts {
  clock: Pick<Clock, 'after'>;
  /** Milliseconds from the start of a connection, or the end of its handshake, to the last byte of its CONNECT. */
  milliseconds: number;
}

/** The number of equal parts that the time limit is divided into. */
const PIECES = 10;

/**
 * The time limit for logins. One timer for all connections counts tenths of the limit. When the service itself stands
 * still, only one tenth passes, however long that is, and the data that arrived meanwhile is read before the next
 * check. So no connection is closed because of a delay of the service.
 */
export function createLoginTime<Connection>({ clock, milliseconds }: Parts, expire: (connection: Connection) => void) {
  /** The connections in the order in which they began, each with the number of tenths that had passed by then. */
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
