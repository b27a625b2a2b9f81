import type { Duplex } from 'node:stream';
import { type Client, types } from 'pg';
import type { SqlValue } from '../sql.ts';

// The parts of pg that the service uses and its documentation lacks. With a new version of the library, look here.

/** The library's connection, which writes messages of the protocol; the library's types lack most of it. */
export interface Wire {
  readonly stream: Duplex;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly SqlValue[]; valueMapper(value: SqlValue): unknown }): void;
  describe(message: { type: 'P' }): void;
  execute(message: undefined): void;
  flush(): void;
  sync(): void;
}

interface Hidden {
  readonly connection: Wire;
  readonly processID: number;
}

const hiddenOf = (client: Client): Hidden => client as unknown as Hidden;

/** The socket of a client. It is read at each use, because TLS replaces it during the connect. */
export const streamOf = (client: Client): Duplex => hiddenOf(client).connection.stream;

/** The number of the server's process for a client. */
export const processOf = (client: Client): number => hiddenOf(client).processID;

// Object identifiers of types (pg_type). int8 and numeric arrive as text; no value here exceeds 2^53, so they become
// numbers.
const INT8 = 20;
const NUMERIC = 1700;

/** The parsers of values; the library's own for all other types. */
export const TYPES = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format as 'text'),
} as typeof types;
