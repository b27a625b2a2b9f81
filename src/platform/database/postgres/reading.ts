import type { Vault } from '../../encryption/vault.ts';
import type { Sql, SqlValue } from '../sql.ts';
import type { Link } from './link.ts';
import { ConnectionLost, isReadOnly, toCallerError } from './trouble.ts';
import type { WaitBound } from './wait-bound.ts';

const writes = (text: string, cause?: unknown): Error => new Error(`this connection only reads: ${text}`, { cause });

/** Reads over several connections in turn. When one is lost during a read, the read is repeated on another. */
export function createReading(links: readonly Link[], waitBound: WaitBound, vault: Vault): Sql {
  let next = 0;

  /** Finds an open connection, beginning with the one whose turn it is; waits if none is open. */
  async function connection() {
    next = (next + 1) % links.length;
    for (let tried = 0; tried < links.length; tried += 1) {
      const found = links[(next + tried) % links.length]?.current();
      if (found) return found;
    }
    return (links[next] as Link).ready();
  }

  async function rowsOf(text: string, values: SqlValue[], isGivenUp: () => boolean): Promise<unknown[]> {
    for (;;) {
      try {
        return (await (await connection()).query(text, ...values)).rows;
      } catch (cause) {
        if (isReadOnly(cause)) throw writes(text, cause);
        if (!(cause instanceof ConnectionLost) || isGivenUp()) throw toCallerError(cause);
      }
    }
  }

  const read = (text: string, values: SqlValue[]): Promise<unknown[]> =>
    waitBound.bounded((isGivenUp) => rowsOf(text, values, isGivenUp));
  return {
    all: <Row>(text: string, ...values: SqlValue[]) => read(text, values) as Promise<Row[]>,
    get: async <Row>(text: string, ...values: SqlValue[]) => (await read(text, values))[0] as Row | undefined,
    async run(text) {
      throw writes(text);
    },
    vault,
  };
}
