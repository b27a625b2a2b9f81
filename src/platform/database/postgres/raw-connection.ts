import { Client } from 'pg';
import { atHosts } from '../../../runtime/database-hosts.ts';
import { startTimeout } from '../../../runtime/timeout.ts';
import { withLibpqModes } from './libpq-modes.ts';
import { streamOf, TYPES } from './pg-parts.ts';

/** The values that can be bound to a parameter here. */
type RawValue = string | number | null | readonly string[] | readonly number[];

/** A connection outside of the units of work: for LISTEN, and for statements that must not wait behind units. */
export interface RawConnection {
  /**
   * Returns the rows of one statement with `$1`, `$2`, ... Rejects when the connection is lost, or the answer does not come
   * in time.
   */
  query<Row>(text: string, ...values: RawValue[]): Promise<Row[]>;
  /** Cuts the connection at once; running statements reject. */
  close(): void;
}

export interface RawOptions {
  /** The `application_name`, by which an administrator recognizes the connection. */
  name: string;
  /** The longest wait in milliseconds: for the connection, and for each answer. After that the connection is cut. */
  boundMs: number;
  onNotification?(payload: string): void;
  /** Called once when the connection has ended, by itself or by `close`. */
  onEnd(): void;
}

/** Opens a raw connection; rejects when that takes too long. */
export type OpenRaw = (options: RawOptions) => Promise<RawConnection>;

/** The names of prepared statements, by their texts, which contain no values. Some run several times a second. */
const names = new Map<string, string>();
const READS = /^\s*SELECT\b/;

function nameOf(text: string): string {
  const name = names.get(text) ?? `raw${names.size + 1}`;
  names.set(text, name);
  return name;
}

/** Settings that a database or a role could set to other values; see `pin` of the other connections. */
const PIN = `SELECT set_config('default_transaction_read_only', 'off', false),
  set_config('default_transaction_isolation', 'read committed', false)`;

const KEEP_ALIVE_MS = 5_000;

/** Opens connections to the database of a URL; of several hosts, to the one that can be written. */
export const rawConnections = (url: string | (() => string)): OpenRaw => {
  const atAny = atHosts(url);
  return (options) => atAny((host) => openAt(host, options));
};

async function openAt(url: string, { name, boundMs, onNotification, onEnd }: RawOptions): Promise<RawConnection> {
  const client = new Client({
    connectionString: withLibpqModes(url),
    application_name: name,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: TYPES,
  });
  const cut = (): void => void streamOf(client).destroy();
  client.on('error', () => undefined); // the 'end' event and the running statements report it
  client.on('notification', ({ payload = '' }) => onNotification?.(payload));
  const endBound = startTimeout(boundMs, cut);
  try {
    await client.connect();
  } catch (cause) {
    cut();
    throw cause;
  } finally {
    endBound();
  }
  async function run<Row>(text: string, values: RawValue[]): Promise<Row[]> {
    const endBound = startTimeout(boundMs, cut);
    try {
      const statement = values.length > 0 || READS.test(text) ? nameOf(text) : undefined;
      const named = statement === undefined ? {} : { name: statement };
      return (await client.query({ ...named, text, values: values as unknown[] })).rows as Row[];
    } finally {
      endBound();
    }
  }
  let last: Promise<unknown> = Promise.resolve();
  const made = {
    // One after another: later releases of pg refuse a statement while another is being carried out.
    query<Row>(text: string, ...values: RawValue[]): Promise<Row[]> {
      const answer = last.then(() => run<Row>(text, values));
      last = answer.catch(() => undefined);
      return answer;
    },
    close: cut,
  };
  await made.query(PIN);
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
