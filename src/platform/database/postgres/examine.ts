import { atHosts, placeOf } from '../../../runtime/database-hosts.ts';
import { type Connection, openConnection, SHORT } from './connection.ts';
import { judgeLife } from './database-identity.ts';
import { missingMigrations } from './migrations.ts';
import { checkSettings } from './server-check.ts';

interface Examined {
  /** The version and the place of the database, such as `PostgreSQL 15.13 at db.example:5432/lapel`. */
  name: string;
  /** The size of the database; undefined when it cannot be reached. */
  bytes: number | undefined;
  /** The number of migrations that the next start will apply. */
  missing: number;
  /** The faults, in words for people; empty when the database can be used. */
  faults: string[];
  /** Further notes for the operator. */
  notes: string[];
}

async function notesOn(connection: Connection): Promise<string[]> {
  const { rows } = await connection.query(`SELECT to_regclass('lives') IS NOT NULL AS made`);
  if (!(rows[0] as { made: boolean }).made) return []; // not migrated yet
  const reason = await judgeLife(connection);
  return reason === 'start'
    ? []
    : [
        'this is another database than at the last start: restored, promoted or copied; the next start goes on with higher numbers',
      ];
}

/** Examines a PostgreSQL database with the checks of a start, without changing anything. */
export async function examinePostgres(url: string): Promise<Examined> {
  const examined: Examined = {
    name: `PostgreSQL at ${placeOf(url)}`,
    bytes: undefined,
    missing: 0,
    faults: [],
    notes: [],
  };
  try {
    // No function for a lost connection is needed, because the loss rejects the pending query.
    const open = (host: string) => openConnection(host, { ...SHORT, readOnly: true }, () => undefined);
    const connection = await atHosts(url)(open);
    try {
      await checkSettings(connection);
      const { rows } = await connection.query(
        `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
           to_regclass('migrations') IS NOT NULL AS made`,
      );
      const [{ version, bytes, made }] = rows as [{ version: string; bytes: number; made: boolean }];
      const name = `PostgreSQL ${version} at ${placeOf(url)}`;
      return {
        ...examined,
        notes: made ? await notesOn(connection) : [],
        name,
        bytes: made ? bytes : 0,
        missing: made ? (await missingMigrations(connection)).length : 0,
      };
    } finally {
      await connection.end();
    }
  } catch (error) {
    return { ...examined, faults: [(error as Error).message || String((error as { code?: string }).code)] };
  }
}
