import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { startPostgres } from '../../harness/postgres-server.ts';
import { repeat } from './until.ts';

/**
 * A PostgreSQL server with a database for nodes, another session in it, which can hold locks, and the settings of a node.
 * `variables` are of the server's environment.
 */
export async function startDatabase(variables: Record<string, string> = {}) {
  const server = await startPostgres({ env: variables });
  const url = await server.createDatabase();
  return {
    server,
    env: { LAPEL_DATABASE_URL: url },
    /** Makes the server stand still for a time, again and again, until the returned function is called. */
    stutter: (milliseconds: number, betweenMs: number) =>
      repeat(async () => {
        await server.freeze(true);
        await pause(milliseconds);
        await server.freeze(false);
      }, betweenMs),
    /** Locks a table, as a migration or a backup that hangs does. Returns the function that unlocks it. */
    async lock(table: string, mode: 'SHARE' | 'ACCESS EXCLUSIVE'): Promise<() => Promise<void>> {
      const session = new Client({ connectionString: url });
      session.on('error', () => undefined);
      await session.connect();
      await session.query('BEGIN');
      await session.query(`LOCK TABLE ${table} IN ${mode} MODE`);
      return () => session.end();
    },
    /** Runs a statement in a session of its own. */
    async query(text: string): Promise<void> {
      const session = new Client({ connectionString: url });
      await session.connect();
      await session.query(text);
      await session.end();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
