import { Client, type QueryResult } from 'pg';
import { startTimeout } from '../../../runtime/timeout.ts';
import type { SqlValue } from '../sql.ts';
import { Batch, type BatchStatement, createBatchMemory } from './batch.ts';
import { withLibpqModes } from './libpq-modes.ts';
import { processOf, streamOf, TYPES } from './pg-parts.ts';
import { type Bound, statementOf, storable } from './statements.ts';
import { ConnectionLost, endsConnection, isReadOnly } from './trouble.ts';

/** The purpose of a connection, and its time limits in milliseconds. */
export interface Bounds {
  /** The connection cannot write. */
  readOnly?: boolean;
  /** The connection's statements find their rows by an index, and read few rows. */
  byIndex?: boolean;
  /** Each statement is planned once, regardless of its values, because planning takes as long as running it. */
  keepsPlans?: boolean;
  /** Limit of a statement on the server; 0 for none. */
  statementMs: number;
  /** Limit of the time that the connection may be idle in a transaction; by default `IDLE_IN_TRANSACTION_MS`. */
  idleInTransactionMs?: number;
  /** Limit of the wait for a lock that another transaction holds. */
  lockMs: number;
  /**
   * Limit of the time without any answer to pending statements; then the server or the network hangs, and the connection is
   * given up.
   */
  silenceMs: number;
}

/** The time limits of the connections whose statements callers wait for. */
export const SHORT: Bounds = { byIndex: true, statementMs: 4_000, lockMs: 500, silenceMs: 4_000 };

// A plan that was made while tables were empty reads whole tables, and stays until they are analyzed. Statements that
// callers wait for all find their rows by an index, so these settings demand one; queries over many rows are planned as
// usual.
const BY_INDEX = { enable_seqscan: 'off', enable_bitmapscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };

// Settings that a database, a role or a pooler could set to other values; a command could then hang for ever, or an
// idle connection be closed. So each connection sets them itself.
const PINNED = {
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  idle_session_timeout: '0',
};

// The settings are made by a statement, because a pooler does not pass on parameters of the connection's start. A setting
// that the server's version lacks is skipped.
const PIN = `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS given (name, value)
  JOIN (SELECT name FROM pg_settings) AS known USING (name)`;

async function pin(client: Client, bounds: Bounds): Promise<void> {
  const { byIndex, keepsPlans, readOnly, statementMs, lockMs, idleInTransactionMs = IDLE_IN_TRANSACTION_MS } = bounds;
  const settings = {
    statement_timeout: String(statementMs),
    lock_timeout: String(lockMs),
    idle_in_transaction_session_timeout: String(idleInTransactionMs),
    jit: 'off',
    ...(byIndex && BY_INDEX),
    ...(keepsPlans && { plan_cache_mode: 'force_generic_plan' }),
    ...PINNED,
    default_transaction_read_only: readOnly ? 'on' : 'off',
  };
  await client.query(PIN, [Object.keys(settings), Object.values(settings)]);
}

/** Limit of the time until a connection is open and has its settings. */
const CONNECT_MS = 3_000;
/** A process that is frozen in a transaction holds its locks; the server ends the transaction after this time. */
const IDLE_IN_TRANSACTION_MS = 1_000;
/** Milliseconds in which the shortest round trip counts: most take longer, because the server or this process is busy. */
const WINDOW_MS = 1_000;
/**
 * Milliseconds between two batches whose first statement is answered at once, so that the round trip is measured and not
 * the work of the whole batch.
 */
const PROBE_MS = 20;
/** Milliseconds between two checks whether the server has been silent for too long. */
const CHECK_MS = 250;
/** The time in which a connection must close in an orderly way; then it is cut. */
const CLOSE_MS = 1_000;
/** Idle time before TCP probes the connection. */
const KEEP_ALIVE_MS = 5_000;

/** A statement of a batch, with `?` for its parameters. */
export interface Asked extends Omit<BatchStatement, 'values'> {
  values: readonly Bound[];
}

export interface Connection {
  /**
   * Rejects with ConnectionLost, or with the server's error. Statements of one turn of the event loop are sent
   * together, and answered in order.
   */
  query(text: string, ...values: Bound[]): Promise<QueryResult>;
  /**
   * Sends statements of one transaction, which are answered together, in order. After the first error the others are
   * skipped.
   */
  batch(statements: readonly Asked[]): void;
  /** Runs a text of one or more statements, without parameters, and without preparing them. */
  script(text: string): Promise<QueryResult>;
  alive(): boolean;
  /** Milliseconds of a round trip: the shortest time in which the server answered lately; Infinity before the first answer. */
  roundTripMs(): number;
  /** The server process's identifier, as the server stated it at the start. */
  process(): number;
  /** Gives the connection up: pending statements reject. */
  destroy(cause: Error): void;
  end(): Promise<void>;
}

/** Opens a connection. Rejects after some seconds at most. `onLost` is called once, except after `end`. */
export async function openConnection(
  url: string,
  bounds: Bounds,
  onLost: (cause: unknown) => void,
): Promise<Connection> {
  const client = new Client({
    connectionString: withLibpqModes(url),
    application_name: 'lapel',
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: TYPES,
  });
  let alive = true;
  let ended = false;
  let unanswered = 0;
  let silentSince = 0;
  let silentChecks = 0;
  let timer: NodeJS.Timeout | undefined;
  // The shortest round trips of this window, and of the one before.
  let shortestMs = Number.POSITIVE_INFINITY;
  let formerMs = Number.POSITIVE_INFINITY;
  let windowSince = performance.now();
  let probedAt = Number.NEGATIVE_INFINITY;
  const memory = createBatchMemory(TYPES.getTypeParser as Parameters<typeof createBatchMemory>[0]);

  function lost(cause: unknown): void {
    if (!alive) return;
    alive = false;
    clearInterval(timer);
    if (!ended) onLost(cause);
  }

  function destroy(cause: Error): void {
    lost(cause);
    streamOf(client).destroy(cause);
  }

  // Silence must be seen twice, because after a long turn of the event loop the answers may have arrived, still unread.
  function checkSilence(): void {
    const isSilent = unanswered > 0 && performance.now() - silentSince > bounds.silenceMs;
    silentChecks = isSilent ? silentChecks + 1 : 0;
    if (silentChecks > 1) destroy(new Error(`the database has not answered for ${bounds.silenceMs} ms`));
  }

  client.on('error', lost);
  client.on('end', () => lost(new Error('the connection was closed')));
  const endBound = startTimeout(CONNECT_MS, () =>
    streamOf(client).destroy(new Error(`the database did not answer for ${CONNECT_MS} ms`)),
  );
  try {
    await client.connect();
    await pin(client, bounds);
  } finally {
    endBound();
  }
  timer = setInterval(checkSilence, CHECK_MS).unref();

  /** Returns whether the statement is the first of those that are sent together. */
  function asked(): boolean {
    unanswered += 1;
    if (unanswered > 1) return false;
    silentSince = performance.now();
    return true;
  }

  /** Notes the time since the oldest statement without an answer was sent. */
  function noteRoundTrip(now: number): void {
    if (now - windowSince > WINDOW_MS) {
      [formerMs, shortestMs] = [shortestMs, Number.POSITIVE_INFINITY];
      windowSince = now;
    }
    shortestMs = Math.min(shortestMs, now - silentSince);
  }

  function answered(isFirst: boolean): void {
    unanswered -= 1;
    const now = performance.now();
    if (isFirst) noteRoundTrip(now);
    silentSince = now;
  }

  /** The error for the caller of a statement; ends the connection if it cannot be used any more. */
  function causeOf(cause: Error, text: string): Error {
    if (endsConnection(cause) && !(isReadOnly(cause) && bounds.readOnly)) destroy(cause);
    Object.assign(cause, { statement: text }); // for the log; the text contains no values
    return alive ? cause : new ConnectionLost(cause);
  }

  function sendBatch(statements: readonly Asked[]): void {
    const isFirst = asked();
    const since = silentSince;
    const probes = isFirst && since - probedAt > PROBE_MS;
    if (probes) probedAt = since;
    const batch = new Batch(
      statements.map(({ text, values, answered: done, failed }) => {
        const { text: numbered } = statementOf(text);
        return {
          text: numbered,
          values: values.map(storable),
          answered: done,
          failed: (cause) => failed(causeOf(cause as Error, numbered)),
        };
      }),
      memory,
      {
        progress() {
          silentSince = performance.now();
        },
        ended: () => answered(false),
        onFirst: probes ? () => noteRoundTrip(performance.now()) : undefined,
      },
    );
    client.query(batch);
  }

  function send(config: { name?: string; text: string; values?: SqlValue[] }): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      if (!alive) return reject(new ConnectionLost(undefined));
      const isFirst = asked();
      client.query(config, (cause: Error | null, result: QueryResult) => {
        answered(isFirst);
        if (!cause) return resolve(result);
        reject(causeOf(cause, config.text));
      });
    });
  }

  return {
    query(text, ...values) {
      const statement = statementOf(text);
      return send({ name: statement.name, text: statement.text, values: values.map(storable) });
    },
    batch(statements) {
      if (alive) sendBatch(statements);
      else for (const { failed } of statements) failed(new ConnectionLost(undefined));
    },
    script: (text) => send({ text }),
    alive: () => alive,
    roundTripMs: () => Math.min(shortestMs, formerMs),
    process: () => processOf(client),
    destroy,
    async end() {
      ended = true;
      clearInterval(timer);
      // A server that hangs does not close its side either.
      const late = setTimeout(() => streamOf(client).destroy(), CLOSE_MS);
      if (alive) await client.end();
      clearTimeout(late);
      alive = false;
    },
  };
}
