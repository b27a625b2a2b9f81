import type { Connection } from './connection.ts';

/** Where a database is, for people: without the password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url.replace('@/', '@localhost/'));
  return `${searchParams.get('host') ?? hostname}:${port || 5432}${pathname}`;
}

/** What the promises rest on, with the value that must be read back. */
export async function checkSettings(connection: Connection): Promise<void> {
  const { rows } = await connection.query(
    `SELECT current_setting('synchronous_commit') AS commits, current_setting('fsync') AS fsync,
       current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby`,
  );
  const [{ commits, encoding, standby }] = rows as [Record<string, unknown>];
  if (standby === true) throw new Error('this is a standby: it cannot be written');
  if (commits === 'off')
    throw new Error('PostgreSQL has synchronous_commit = off: a commit must be on the disk before anyone is answered');
  if (encoding !== 'UTF8') throw new Error(`PostgreSQL has server_encoding = ${String(encoding)}: it must be UTF8`);
}
