import type { OpenRaw, RawConnection } from '../database/postgres/raw-connection.ts';

// Milliseconds before one that could not be made is tried again: a lease waits for it, so not for long.
const PAUSE = 200;

interface Parts {
  open: OpenRaw;
  name: string;
  /** Milliseconds; see RawOptions. */
  boundMs: number;
  /** Called with every new connection before anybody else may use it; when it rejects that connection is closed. */
  prepare?(connection: RawConnection): Promise<void>;
  onNotification?(payload: string): void;
  /** The connection is there for all, again or for the first time. */
  onOpen?(): void;
}

/** A connection that is made again whenever it is lost, one at a time. It is about the network's time, not the domain's. */
export function createKeptConnection({ open, name, boundMs, prepare, onNotification, onOpen }: Parts) {
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
        if (!closed) timer = setTimeout(again, PAUSE).unref();
      },
    );
  }

  return {
    /** Makes the first one; rejects when that cannot be had. */
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
