import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { deviceIds } from '../bench-ids.ts';
import { call, type LapelTarget, makeApplication } from '../lapel-target.ts';

const NAME = 'neighbour';
const FIRST_ID = 600_000;
const LOOK_MS = 50;
const CREDENTIAL = 'credential of all devices of the neighbour';
const DAY_MICROS = 86_400_000_000;

export type Neighbour = Awaited<ReturnType<typeof createNeighbour>>;

/** Another developer, with activated devices, whose work is done beside the calls of the measured one. */
export async function createNeighbour(target: LapelTarget, devices: number) {
  const { admin, root, receiver, databaseUrl } = target;
  const [http = ''] = target.origins;
  const { bearer } = await makeApplication({ http, admin, root, receiver }, NAME, devices);
  const ids = deviceIds(devices, FIRST_ID);
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  let oldRows = 0;
  const count = async (text: string, values: unknown[] = []): Promise<number> =>
    (await database.query(text, values)).rowCount ?? 0;

  await count(
    `INSERT INTO devices (device_id, developer_id, credential_hash, activation, application_id, client_id, created_at, lot)
     SELECT id, $2, $3, 'activated', $2, id, 0, floor(random() * 2147483648) FROM unnest($1::text[]) AS id`,
    [ids, NAME, createHash('sha256').update(CREDENTIAL).digest()],
  );
  await count('INSERT INTO activated_counts VALUES ($1, $2) ON CONFLICT DO NOTHING', [NAME, devices]);

  return {
    name: NAME,
    ids,
    credential: CREDENTIAL,
    /** Makes a call of the API for applications, or of the administration. */
    ask: (method: string, path: string, body?: unknown, type?: string): Promise<string> => {
      const isAdmin = path.startsWith('/admin');
      const base = isAdmin ? admin : `${http}/v1/applications/${NAME}`;
      return call(`${base}${path}`, { method, token: isAdmin ? root : bearer, body, ...(type && { type }) });
    },
    /** The number of commands that have expired. */
    async expired(): Promise<number> {
      const text = await call(`${admin}/metrics`, { method: 'GET', token: root });
      return Number(/^lapel_transactions_ended_early_total\{code="EXPIRED"\} (\d+)/m.exec(text)?.[1] ?? 0);
    },
    /** Stores queued commands, `each` for every one of the devices; with `expired`, their time has passed. */
    queue: (of: readonly string[], each: number, expired: boolean): Promise<number> =>
      count(
        `INSERT INTO transactions (device_id, application_id, operation, parameters, status, due, attempts, created_at,
         updated_at, expires_at, ends_at) SELECT id, $2, 'setLanguage', '{"lang":"ja"}', 'queued', 1, 0, $3, $3, $4, $4
         FROM unnest($1::text[]) AS id, generate_series(1, $5::int)`,
        [of, NAME, Date.now() * 1000, expired ? Date.now() * 1000 - 1 : null, each],
      ),
    /** Stores finished transactions that are too old to be kept. They get the lowest numbers, as old ones have. */
    async addOld(rows: number): Promise<void> {
      oldRows = rows;
      await count(`SELECT setval(pg_get_serial_sequence('transactions', 'transaction_id'), $1)`, [2 * rows]);
      await count('DELETE FROM transactions WHERE due = 0');
      await count(
        `INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts, created_at,
         updated_at, completed_at) SELECT n, $1, $2, 'setLanguage', 'succeeded', 0, 1, $3, $3, $3
         FROM generate_series(1, $4::int) AS n`,
        [ids[0], NAME, Date.now() * 1000 - 1_000 * DAY_MICROS, rows],
      );
    },
    /** Resolves when the old transactions are removed. */
    async haveOldGone(isOver: () => boolean): Promise<void> {
      const oldest = 'SELECT 1 FROM transactions WHERE transaction_id <= $1 LIMIT 1';
      while (!isOver() && (await count(oldest, [oldRows])) > 0) await sleep(LOOK_MS);
    },
    /** Takes away what a work has left, so that it does not go on beside the next one. */
    async clear(): Promise<void> {
      for (const table of ['rollout_members', 'rollout_counts', 'rollout_times', 'rollout_entries', 'rollouts'])
        await count(`DELETE FROM ${table}`);
      for (const table of ['transactions', 'deliveries'])
        await count(`DELETE FROM ${table} WHERE application_id = $1`, [NAME]);
      await count('VACUUM ANALYZE'); // otherwise autovacuum does it, at a time of its own
    },
    close: (): Promise<void> => database.end(),
  };
}
