import { atHosts, placeOf } from '../../../runtime/database-hosts.ts';
import { Refused } from '../../../runtime/refused.ts';
import type { Plan, Told } from '../upgrade-plan.ts';
import { type Connection, openConnection } from './connection.ts';
import { migrate, missingMigrations } from './migrations.ts';
import { MIGRATING } from './open-postgres.ts';
import { checkSettings } from './server-check.ts';
import { planPostgres } from './upgrade.ts';

/** Throws a Refused that names the database, also for an error of the server or of the network. */
async function connected<Result>(url: string, work: (connection: Connection) => Promise<Result>): Promise<Result> {
  try {
    const connection = await atHosts(url)((host) => openConnection(host, MIGRATING, () => undefined));
    try {
      await checkSettings(connection);
      return await work(connection);
    } finally {
      await connection.end();
    }
  } catch (cause) {
    const reason = (cause as Error).message || (cause as { code?: string }).code;
    throw new Refused(`the database ${placeOf(url)} cannot be used: ${reason}`, { cause });
  }
}

async function hasTables(connection: Connection): Promise<boolean> {
  const { rows } = await connection.query(`SELECT to_regclass('migrations') IS NOT NULL AS made`);
  return (rows[0] as { made: boolean }).made;
}

/** The plan of the upgrade of a database, which nodes may be using; undefined when there is nothing to migrate. */
export const planServer = (url: string): Promise<Plan | undefined> =>
  connected(url, async (connection) => {
    const missing = (await hasTables(connection)) ? await missingMigrations(connection) : [];
    return missing.length > 0 ? planPostgres(connection, missing) : undefined;
  });

/** Brings a database that has tables to the newest schema, while nodes of the former release use it. */
export const upgradeServer = (url: string, nowMicros: number, told: Told): Promise<number> =>
  connected(url, async (connection) =>
    (await hasTables(connection)) ? migrate(connection, nowMicros, undefined, told) : 0,
  );
