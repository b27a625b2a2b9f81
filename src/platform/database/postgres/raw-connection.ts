import pg from 'pg';
import { atHosts } from '../../../runtime/database-hosts.ts';

/** What may be bound to a parameter here. */
type RawValue = string | number | null | readonly string[] | readonly number[];

/** A connection of one's own, outside of the units of work: for what must not wait for them, and for LISTEN. */
export interface RawConnection {
  /** The rows of one statement with `$1`, `$2`, ... Rejects when the connection is lost, or there is no answer in time. */
  query<Row>(text: string, ...values: RawValue[]): Promise<Row[]>;
  /** Ends it at once; statements under way reject. */
  close(): void;
}

export interface RawOptions {
  /** As `application_name`, where an administrator looks who is connected. */
  name: string;
  /** Milliseconds that anybody waits: for the connection, and for the answer to a statement. A server that hangs is lost. */
  boundMs: number;
  onNotification?(payload: string): void;
  /** Called once, when it has ended by itself or by `close`. */
  onEnd(): void;
}

/** Makes such a connection; rejects when there is none in time. */
export type OpenRaw = (options: RawOptions) => Promise<RawConnection>;

const INT8 = 20;
const KEEP_ALIVE = 5_000;

/** bigint as a number, which it is everywhere here; all else as pg reads it. */
const types = {
  getTypeParser: ((id: number, format: 'text') =>
    id === INT8 ? Number : pg.types.getTypeParser(id, format)) as typeof pg.types.getTypeParser,
};

/** Connections to the database of a URL; of several hosts to the one that can be written. */
export const rawConnections = (url: string): OpenRaw => {
  const atAny = atHosts(url);
  return (options) => atAny((host) => openAt(host, options));
};

async function openAt(url: string, { name, boundMs, onNotification, onEnd }: RawOptions): Promise<RawConnection> {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: boundMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE,
    types,
  });
  const cut = (): void => void client.connection.stream.destroy();
  client.on('error', () => undefined); // its end is told, and the statements under way have it
  client.on('notification', ({ payload = '' }) => onNotification?.(payload));
  try {
    await client.connect();
  } catch (cause) {
    cut();
    throw cause;
  }
  const made = {
    async query<Row>(text: string, ...values: RawValue[]): Promise<Row[]> {
      const late = setTimeout(cut, boundMs);
      try {
        return (await client.query(text, values as unknown[])).rows as Row[];
      } finally {
        clearTimeout(late);
      }
    },
    close: cut,
  };
  const [{ standby } = { standby: true }] = await made.query<{ standby: boolean }>(
    'SELECT pg_is_in_recovery() AS standby',
  );
  if (standby) {
    cut();
    throw new Error('this is a standby: it cannot be written');
  }
  client.once('end', onEnd);
  return made;
}
