import { atHosts } from '../../../runtime/database-hosts.ts';
import { type Bounds, type Connection, openConnection } from './connection.ts';
import { ConnectionLost } from './trouble.ts';

// Milliseconds between attempts to connect; doubled after each failure.
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;

interface Options {
  /** The URL; a function tells it for each connection, because its password can change. */
  url: string | (() => string);
  /**
   * Runs on each connection before it is used; an error counts as a failed attempt. `another` opens a second connection to
   * the same host.
   */
  prepare(connection: Connection, bounds: Bounds, another: () => Promise<Connection>): Promise<void>;
  /** `onAway` is called once when a connection is lost or cannot be opened, `onBack` when all are open again. */
  onAway(cause: unknown): void;
  onBack(): void;
}

export type Links = ReturnType<typeof createLinks>;
export type Link = ReturnType<Links['link']>;

/**
 * Keeps connections to one database open. Lost ones are opened again, with one attempt at a time, however many are needed.
 */
export function createLinks({ url, prepare, onAway, onBack }: Options) {
  const closing = new AbortController();
  const ends: (() => Promise<void>)[] = [];
  const cuts: ((cause: Error) => void)[] = [];
  const away = new Set<object>();
  let turn: Promise<unknown> = Promise.resolve();
  let pause = 0;
  const atAny = atHosts(url);

  function sleep(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, pause);
    const giveUp = (): void => {
      clearTimeout(timer);
      resolve();
    };
    closing.signal.addEventListener('abort', giveUp, { once: true });
    return promise.finally(() => closing.signal.removeEventListener('abort', giveUp));
  }

  async function openAt(host: string, bounds: Bounds, onLost: (cause: unknown) => void): Promise<Connection> {
    const connection = await openConnection(host, bounds, onLost);
    try {
      await prepare(connection, bounds, () => openConnection(host, bounds, () => undefined));
      return connection;
    } catch (cause) {
      await connection.end();
      throw cause;
    }
  }

  async function attempt(bounds: Bounds, onLost: (cause: unknown) => void): Promise<Connection> {
    if (pause > 0) await sleep();
    closing.signal.throwIfAborted();
    try {
      const connection = await atAny((host) => openAt(host, bounds, onLost));
      pause = 0;
      return connection;
    } catch (cause) {
      pause = Math.min(Math.max(FIRST_PAUSE_MS, pause * 2), LONGEST_PAUSE_MS);
      throw cause;
    }
  }

  /** Connects one after another, so that a server that comes back is not overrun. */
  function connect(bounds: Bounds, onLost: (cause: unknown) => void): Promise<Connection> {
    const opened = turn.then(() => attempt(bounds, onLost));
    turn = opened.catch(() => undefined);
    return opened;
  }

  return {
    /** Makes one attempt, for the start. Rejects with its error. */
    once: (bounds: Bounds): Promise<Connection> => connect(bounds, () => undefined),

    /** Keeps one connection open, from its first use on. */
    link(bounds: Bounds) {
      const self = {};
      let current: Connection | undefined;
      let opening: Promise<Connection> | undefined;
      let awaySince: number | undefined;
      ends.push(async () => current?.end());
      cuts.push((cause) => current?.destroy(cause));

      function setAway(cause: unknown): void {
        if (awaySince !== undefined || closing.signal.aborted) return;
        awaySince = performance.now();
        if (away.size === 0) onAway(cause);
        away.add(self);
      }

      function setBack(): void {
        awaySince = undefined;
        if (away.delete(self) && away.size === 0) onBack();
      }

      async function reconnect(): Promise<Connection> {
        for (;;) {
          try {
            const opened = await connect(bounds, lost);
            if (!opened.alive()) continue;
            current = opened;
            setBack();
            return opened;
          } catch (cause) {
            if (closing.signal.aborted) throw new ConnectionLost(cause);
            setAway(cause);
          }
        }
      }

      function startConnecting(): Promise<Connection> {
        opening ??= reconnect().finally(() => {
          opening = undefined;
        });
        opening.catch(() => undefined); // a failure is not lost: the callers that await the connection get the error
        return opening;
      }

      function lost(cause: unknown): void {
        current = undefined;
        setAway(cause);
        if (!closing.signal.aborted) void startConnecting();
      }

      return {
        /** The connection, if it is open; it can be lost at any time. */
        current: (): Connection | undefined => (current?.alive() ? current : undefined),
        /** Waits until the connection is open. Rejects with ConnectionLost after `close`. */
        ready: (): Promise<Connection> => (current?.alive() ? Promise.resolve(current) : startConnecting()),
        /** Milliseconds since the connection was lost or could not be opened; 0 while nothing is known to be wrong. */
        awayFor: (): number => (awaySince === undefined ? 0 : performance.now() - awaySince),
      };
    },

    /** Drops all connections; they are opened again. */
    renew(cause: Error): void {
      for (const cut of cuts) cut(cause);
    },

    async close(): Promise<void> {
      closing.abort();
      await turn;
      await Promise.all(ends.map((end) => end()));
    },
  };
}
