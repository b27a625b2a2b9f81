import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../../harness/postgres-server.ts';
import type { Attempts } from '../trial/attempts.ts';
import { type Environment, run, start } from '../trial/programs.ts';

interface Parts {
  /** The folder of the commands of the installed package. */
  bin: string;
  /** An empty folder. */
  folder: string;
  env: Environment;
  attempts: Attempts;
}

interface Addresses {
  http: string;
  admin: string;
  mqtt: string;
}

const PORTS = Object.fromEntries(['HTTP', 'ADMIN', 'MQTT', 'OBJECTS'].map((name) => [`LAPEL_${name}_PORT`, '0']));

/** Counts everything that the fleet is about: it must be the same behind a restore, and behind a move. */
async function figures({ admin }: Addresses, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const read = async (path: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${admin}/admin/v1/${path}`, { headers });
    assert.equal(response.status, 200, path);
    return (await response.json()) as Record<string, unknown>;
  };
  const { devices } = await read('fleet/summary');
  const { total, activated } = devices as Record<string, number>;
  const { transactions } = (await read('transactions?limit=1')) as { transactions: { transactionId: number }[] };
  return `${total} devices, ${activated} activated, the last transaction is ${transactions[0]?.transactionId}`;
}

/**
 * Backs up an installed service under the load of the simulator, restores it elsewhere, and moves it to PostgreSQL and back.
 */
export async function tryData({ bin, folder, env: base, attempts }: Parts): Promise<void> {
  const { attempt } = attempts;
  const env = { ...base, ...PORTS, LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true' };
  const [lapel, sim] = [join(bin, 'lapel'), join(bin, 'lapel-sim')];
  const place = { env, cwd: folder };
  const [data, copy, back, backup] = ['data', 'copy', 'back', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  const serve = async (dataDir: string, more: Environment = {}) => {
    const service = start([lapel, 'serve', '--data-dir', dataDir], { ...place, env: { ...env, ...more } });
    const [line] = await service.said(/^\{.*\}$/m);
    const token = readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();
    return { service, addresses: JSON.parse(line) as Addresses, token };
  };

  let before = '';
  const isBackedUp = await attempt('lapel backup, while the simulator is at work', async () => {
    const { service, addresses, token } = await serve(data);
    const { http, admin, mqtt } = addresses;
    const at = ['--api', http, '--admin', admin, '--mqtt', mqtt];
    const load = run([sim, 'run', 'smoke', ...at], place);
    await run([lapel, 'backup', join(folder, 'first'), '--data-dir', data], place);
    await load;
    const { stdout } = await run([lapel, 'backup', backup, '--data-dir', data], place);
    before = await figures(addresses, token);
    assert.equal(await service.end(), 0);
    return stdout.trim().replace(`${backup} `, '');
  });
  if (!isBackedUp) return;
  await attempt('lapel restore into another folder: the same fleet, webhooks held', async () => {
    await run([lapel, 'restore', backup, '--data-dir', copy], place);
    await run([lapel, 'restore', backup, '--data-dir', copy], place, 1); // it refuses what it would overwrite
    const { service, addresses, token } = await serve(copy, { LAPEL_WEBHOOKS_HELD: 'true' });
    assert.equal(await figures(addresses, token), before);
    assert.equal(await service.end(), 0);
    return before;
  });
  await attempt('lapel move to PostgreSQL and back: the same fleet', async () => {
    await using server = await startPostgres();
    const url = await server.createDatabase('delivery');
    const to = await run([lapel, 'move', '--to', 'postgres', '--data-dir', copy, '--database-url', url], place);
    const there = await serve(copy, { LAPEL_DATABASE_URL: url });
    assert.equal(await figures(there.addresses, there.token), before);
    assert.equal(await there.service.end(), 0);
    await run([lapel, 'move', '--to', 'sqlite', '--data-dir', back, '--database-url', url], place);
    const again = await serve(back);
    assert.equal(await figures(again.addresses, again.token), before);
    assert.equal(await again.service.end(), 0);
    const rows = [...to.stdout.matchAll(/ +(\d+) rows /g)].reduce((sum, [, count]) => sum + Number(count), 0);
    return `${rows} rows each way`;
  });
}
