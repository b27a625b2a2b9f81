import type { Duplex } from 'node:stream';
import { Client, type QueryConfig, type QueryResult, types } from 'pg';
import type { SqlValue } from '../sql.ts';
import { type Bound, statementOf, storable } from './statements.ts';
import { ConnectionLost, endsConnection, isReadOnly } from './trouble.ts';

// Object identifiers of types (pg_type): int8 and numeric arrive as text. Nothing here exceeds 2^53.
const INT8 = 20;
const NUMERIC = 1700;
const TYPES = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format as 'text'),
} as typeof types;

/** What a connection is for; milliseconds. */
export interface Bounds {
  /** It cannot write. */
  readOnly?: boolean;
  /** Its statements find what they look for by an index, and take few rows. */
  byIndex?: boolean;
  /** A statement is planned once, whatever its values: that takes as long as carrying it out. */
  keepsPlans?: boolean;
  /** For a statement on the server. */
  statement: number;
  /** For a lock that another transaction holds. */
  lock: number;
  /** Without any answer to what was asked, after which the connection is given up: its server, or the way there, hangs. */
  silence: number;
}

/** For what others wait for. */
export const SHORT: Bounds = { byIndex: true, statement: 4_000, lock: 500, silence: 4_000 };

// A plan that was made while tables were empty reads whole tables, and stays until somebody analyzes them. Every statement
// that others wait for finds its rows by an index, so that is asked for; what looks at many rows is planned as usual.
const BY_INDEX = { enable_seqscan: 'off', enable_bitmapscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };

// What a database, a role or a pooler could set otherwise, and the service could not do with: a command would stand still for
// ever, a connection that rests would be ended.
const PINNED = {
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  idle_session_timeout: '0',
};

// As a statement: a pooler passes none on that stands in the start of a connection. A version that lacks one does without.
const PIN = `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS given (name, value)
  JOIN (SELECT name FROM pg_settings) AS known USING (name)`;

async function pin(client: Client, { byIndex, keepsPlans, readOnly, statement, lock }: Bounds): Promise<void> {
  const settings = {
    statement_timeout: String(statement),
    lock_timeout: String(lock),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION),
    jit: 'off',
    ...(byIndex && BY_INDEX),
    ...(keepsPlans && { plan_cache_mode: 'force_generic_plan' }),
    ...PINNED,
    default_transaction_read_only: readOnly ? 'on' : 'off',
  };
  const values = [Object.keys(settings), Object.values(settings)];
  const wanted: QueryConfig & { query_timeout: number } = { text: PIN, values, query_timeout: CONNECT }; // not in its types
  await client.query(wanted);
}

const CONNECT = 3_000;
/** A process that is frozen in a transaction holds its locks; others wait for no longer than this. */
const IDLE_IN_TRANSACTION = 1_000;
const LOOK = 250;
/** Until a connection that is ended has its end. */
const GOODBYE = 1_000;
/** Of a connection that rests. */
const KEEP_ALIVE = 5_000;

export interface Connection {
  /** Rejects with ConnectionLost, or what PostgreSQL says. What is asked in one turn goes out together, and is answered in order. */
  query(text: string, ...values: Bound[]): Promise<QueryResult>;
  /** What is asked meanwhile is written to the socket at once. */
  together(ask: () => void): void;
  /** Statements in one text, without parameters and unprepared. */
  script(text: string): Promise<QueryResult>;
  alive(): boolean;
  /** The server's process, as it was told at the start. */
  process(): number;
  /** Gives it up: nothing that was asked is answered any more. */
  destroy(cause: Error): void;
  end(): Promise<void>;
}

/** Opens a connection. Rejects after some seconds at most. `onLost` is told once, unless it was ended. */
export async function openConnection(
  url: string,
  bounds: Bounds,
  onLost: (cause: unknown) => void,
): Promise<Connection> {
  const client = new Client({
    connectionString: url,
    application_name: 'lapel',
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE,
    connectionTimeoutMillis: CONNECT,
    types: TYPES,
  });
  let alive = true;
  let ended = false;
  let unanswered = 0;
  let silentSince = 0;
  let silentLooks = 0;
  let timer: NodeJS.Timeout | undefined;

  function lost(cause: unknown): void {
    if (!alive) return;
    alive = false;
    clearInterval(timer);
    if (!ended) onLost(cause);
  }

  // Not in its types; TLS puts another one in its place while it connects.
  const stream = (): Duplex => (client as unknown as { connection: { stream: Duplex } }).connection.stream;

  function destroy(cause: Error): void {
    lost(cause);
    stream().destroy(cause);
  }

  // Two looks: after a long turn of the event loop the answers may lie there, unread.
  function look(): void {
    const isSilent = unanswered > 0 && performance.now() - silentSince > bounds.silence;
    silentLooks = isSilent ? silentLooks + 1 : 0;
    if (silentLooks > 1) destroy(new Error(`the database has not answered for ${bounds.silence} ms`));
  }

  client.on('error', lost);
  client.on('end', () => lost(new Error('the connection was closed')));
  await client.connect();
  await pin(client, bounds);
  timer = setInterval(look, LOOK).unref();

  function asked(): void {
    if (unanswered === 0) silentSince = performance.now();
    unanswered += 1;
  }

  function answered(): void {
    unanswered -= 1;
    silentSince = performance.now();
  }

  function send(config: { name?: string; text: string; values?: SqlValue[] }): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      if (!alive) return reject(new ConnectionLost(undefined));
      asked();
      client.query(config, (cause: Error | null, result: QueryResult) => {
        answered();
        if (!cause) return resolve(result);
        if (endsConnection(cause) && !(isReadOnly(cause) && bounds.readOnly)) destroy(cause);
        Object.assign(cause, { statement: config.text }); // for the log; values are never in it
        reject(alive ? cause : new ConnectionLost(cause));
      });
    });
  }

  return {
    query(text, ...values) {
      const statement = statementOf(text);
      return send({ name: statement.name, text: statement.text, values: values.map(storable) });
    },
    together(ask) {
      const socket = stream();
      socket.cork();
      ask();
      socket.uncork();
    },
    script: (text) => send({ text }),
    alive: () => alive,
    process: () => (client as unknown as { processID: number }).processID, // not in its types
    destroy,
    async end() {
      ended = true;
      clearInterval(timer);
      // A server that has gone without a word does not say goodbye either.
      const late = setTimeout(() => stream().destroy(), GOODBYE);
      if (alive) await client.end();
      clearTimeout(late);
      alive = false;
    },
  };
}
