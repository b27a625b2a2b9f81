import type { Clock } from '../../runtime/clock.ts';

interface Parts {
  clock: Pick<Clock, 'after'>;
  /** What a connection has from its first moment, or the end of its handshake, to the last byte of its CONNECT. */
  milliseconds: number;
}

/** Pieces of the time. */
const PIECES = 10;

/**
 * The time that connections have to log in. It is counted in pieces, by one timer for all: a service that stood still
 * finds that one piece has gone by, however long it stood, and reads what has come meanwhile before it looks. So nobody is
 * cut off for what the service itself was late with.
 */
export function createLoginTime<Connection>({ clock, milliseconds }: Parts, expire: (connection: Connection) => void) {
  /** Since which piece; in that order. */
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
