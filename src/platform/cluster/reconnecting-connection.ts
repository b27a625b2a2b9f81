import type { OpenRaw, RawConnection } from '../database/postgres/raw-connection.ts';

// Milliseconds before another attempt to connect. It is short, because the renewal of a lease waits for it.
const PAUSE_MS = 200;

interface Parts {
  open: OpenRaw;
  name: string;
  /** The longest wait in milliseconds: for the connection, and for the answer to each statement. */
  boundMs: number;
  /** Called with every new connection before it is used; when it rejects, the connection is closed. */
  prepare?(connection: RawConnection): Promise<void>;
  onNotification?(payload: string): void;
  /** Called when a connection is open, the first or a later one. */
  onOpen?(): void;
}

/** Keeps one connection open, and opens a new one when it is lost. It waits in real time, not by the injected clock. */
export function createReconnectingConnection({ open, name, boundMs, prepare, onNotification, onOpen }: Parts) {
  let current: RawConnection | undefined;
  let opening: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function openOnce(): Promise<void> {
    let ended = false;
    let made: RawConnection | undefined;
    made = await open({
      name,
      boundMs,
      ...(onNotification && { onNotification }),
      onEnd() {
        ended = true;
        if (made !== undefined && current === made) {
          current = undefined;
          again();
        }
      },
    });
    try {
      await prepare?.(made);
    } catch (cause) {
      made.close();
      throw cause;
    }
    if (ended || closed) {
      made.close();
      throw new Error('the connection has ended');
    }
    current = made;
    onOpen?.();
  }

  function again(): void {
    if (closed || opening) return;
    opening = openOnce().then(
      () => {
        opening = undefined;
      },
      () => {
        opening = undefined;
        if (!closed) timer = setTimeout(again, PAUSE_MS).unref();
      },
    );
  }

  return {
    /** Opens the first connection; rejects when that fails. */
    start: (): Promise<void> => openOnce(),
    /** The connection, or undefined while there is none. */
    current: (): RawConnection | undefined => current,
    async [Symbol.asyncDispose](): Promise<void> {
      closed = true;
      clearTimeout(timer);
      current?.close();
      await opening;
    },
  };
}
