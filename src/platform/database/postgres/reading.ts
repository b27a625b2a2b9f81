import type { Sql, SqlValue } from '../sql.ts';
import type { Link } from './link.ts';
import { ConnectionLost, isReadOnly, told } from './trouble.ts';
import type { Patience } from './wait-bound.ts';

const writes = (text: string, cause?: unknown): Error => new Error(`this connection only reads: ${text}`, { cause });

/** Reads over some connections in turn. One that is lost in the middle of a read is asked again on another. */
export function createReading(links: readonly Link[], patience: Patience): Sql {
  let next = 0;

  /** One that is there, beginning with the one whose turn it is. */
  async function connection() {
    next = (next + 1) % links.length;
    for (let tried = 0; tried < links.length; tried += 1) {
      const found = links[(next + tried) % links.length]?.current();
      if (found) return found;
    }
    return (links[next] as Link).ready();
  }

  async function rowsOf(text: string, values: SqlValue[], given: () => boolean): Promise<unknown[]> {
    for (;;) {
      try {
        return (await (await connection()).query(text, ...values)).rows;
      } catch (cause) {
        if (isReadOnly(cause)) throw writes(text, cause);
        if (!(cause instanceof ConnectionLost) || given()) throw told(cause);
      }
    }
  }

  const read = (text: string, values: SqlValue[]): Promise<unknown[]> =>
    patience.bounded((given) => rowsOf(text, values, given));
  return {
    all: <Row>(text: string, ...values: SqlValue[]) => read(text, values) as Promise<Row[]>,
    get: async <Row>(text: string, ...values: SqlValue[]) => (await read(text, values))[0] as Row | undefined,
    async run(text) {
      throw writes(text);
    },
  };
}
